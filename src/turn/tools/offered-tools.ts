import type { ToolSet } from "ai";
import { logBotFailure } from "../../core/time/bot-code.ts";
import { usableTools } from "./bot-tools.ts";
import { interruptibleTools } from "./interruptible-tools.ts";
import type { RunningOperations } from "./running-operations.ts";
import type { SessionMessages } from "../model/session-messages.ts";
import type { ToolCalls } from "./tool-calls.ts";
import type { TurnConfigs } from "../turn-configs.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";
import type { TurnHooks } from "../turn-hooks.ts";

interface OfferedToolsParts extends Omit<TurnEngineOptions, "calls" | "hooks" | "system"> {
  readonly running: RunningOperations;
  readonly messages: SessionMessages;
  readonly hooks: TurnHooks;
  readonly configs: TurnConfigs;
  readonly calls: ToolCalls;
  readonly system: (session: string) => Promise<string | undefined>;
}

/** The tools that the model of a session sees: the bot's own, and those that `beforeTurn` adds for a turn. */
export class OfferedTools {
  readonly #options: OfferedToolsParts;
  /** The tools as each session saw them last. */
  readonly #seen = new Map<string, ToolSet>();

  constructor(options: OfferedToolsParts) {
    this.#options = options;
  }

  /** Returns the tools that a session saw last. Undefined before its first turn. */
  seen(session: string): ToolSet | undefined {
    return this.#seen.get(session);
  }

  /** Returns the tools that the session's model knows. */
  async of(session: string): Promise<ToolSet> {
    return this.seen(session) ?? this.next(session);
  }

  /** Returns the tools of the session's next model call. They end when their turn is stopped. */
  async next(session: string): Promise<ToolSet> {
    const { calls, clock, configs, inTurn, logOf, running } = this.#options;
    const own = await running.unlessStopped(session, () => this.#options.tools(), undefined);
    if (own === undefined) return {};
    const operationId = running.in(session);
    if (operationId === undefined) return own;
    const tools = { ...own, ...(await this.#added(session, operationId, own)) };
    this.#seen.set(session, tools);
    return interruptibleTools(tools, {
      clock,
      limitMs: (name) => configs.toolLimitMs(operationId, name),
      inTurn: (body) => inTurn(operationId, body),
      onFailure: (name, error) => logBotFailure(logOf(operationId), `tool ${name}`, error),
      onBegin: (callId) => calls.began(callId),
      onEnd: (...end) => calls.ended(...end),
    });
  }

  /** Returns the tools that `beforeTurn` adds. It is called here because the first model call already offers them. */
  async #added(session: string, operationId: string, own: ToolSet): Promise<ToolSet> {
    const { configs, hooks, messages, system } = this.#options;
    const assembled = async (): ReturnType<Parameters<TurnConfigs["begin"]>[2]> => {
      const history = await messages.stored(session);
      this.#seen.set(session, own);
      const prompt = (await system(session)) ?? "";
      return {
        system: prompt,
        messages: await messages.load(session, history, own),
        restarted: history.at(-1)?.role === "assistant",
      };
    };
    try {
      return usableTools(await configs.begin(operationId, own, assembled));
    } catch (error) {
      hooks.failed(operationId, "beforeTurn", error);
      return {};
    }
  }
}
