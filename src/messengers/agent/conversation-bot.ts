import { runBotCode } from "../../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import { inTurnContext } from "../../core/turn-context.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { RenderAttachment } from "../turns/turn-attachments.ts";
import type { AgentActions } from "./agent-actions.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { botCommands } from "./bot-commands.ts";
import type { BroadcastPart } from "./broadcast-part.ts";
import type { ScheduleDesk } from "./schedule-desk.ts";
import type { ThreadBot } from "./thread-runtime-options.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

/** The parts of an agent object that add to the bot's own code. Each is created when it is needed first. */
export interface BotParts {
  readonly actions: AgentActions;
  readonly broadcasts: BroadcastPart;
  readonly schedules: ScheduleDesk;
  readonly thread: ThreadRuntime;
}

export interface ConversationBotOptions {
  readonly agent: AgentMethods;
  readonly deps: Deps;
  readonly log: Log;
}

/** The bot's own class as a conversation calls it, with the commands and presses of the product. */
export class ConversationBot implements ThreadBot {
  readonly #options: ConversationBotOptions;
  readonly #parts: BotParts;

  constructor(options: ConversationBotOptions, parts: BotParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get keepDeliveriesMs(): number {
    return this.#options.agent.keepDeliveriesMs;
  }

  get keepUsageMs(): number {
    return this.#options.agent.keepUsageMs;
  }

  commands(): ThinkCommands {
    return botCommands(this.#options.agent, this.#parts);
  }

  onAction(press: CardPress): PressAnswer | Promise<PressAnswer> {
    const { actions, schedules } = this.#parts;
    return schedules.pressed(press) ?? actions.desk.pressed(press) ?? this.#options.agent.onAction(press);
  }

  get onChatMember(): ThreadBot["onChatMember"] {
    const { agent } = this.#options;
    return agent.onChatMember && ((event) => agent.onChatMember?.(event));
  }

  get onReaction(): ThreadBot["onReaction"] {
    const { agent } = this.#options;
    return agent.onReaction && ((reaction) => agent.onReaction?.(reaction));
  }

  transcribes(): boolean {
    return this.#options.agent.transcribe !== undefined;
  }

  get renderAttachment(): RenderAttachment | undefined {
    const { agent, deps, log } = this.#options;
    if (agent.renderAttachment === undefined) return undefined;
    return (turnId, ...shown) => {
      const { thread } = this.#parts;
      return runBotCode({ clock: deps.clock, log }, "renderAttachment", () =>
        inTurnContext(thread.own.info(turnId), thread.contextOf(turnId), () =>
          agent.renderAttachment?.(...shown),
        ),
      );
    };
  }
}
