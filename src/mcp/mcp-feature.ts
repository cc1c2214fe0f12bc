import { SwitchboardError } from "../core/base/errors.ts";
import type { ThinkActions } from "../actions/declare/action.ts";
import { runBotCode } from "../core/time/bot-code.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CallAnswer, McpCalls, ToolCall, ToolDescriptor } from "./mcp-calls.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import type { McpCaller, NewToken, TokenRecord } from "./token.ts";
import { McpTokens } from "./tokens.ts";
import { ToolCalls } from "./tool-calls.ts";
import { descriptorOf, mayEverCall, toolsOf } from "./tool-list.ts";
import type { McpTool } from "./tool-list.ts";
import { answeredBy } from "../core/chat/inner-calls.ts";

/** The methods of the bot's class that are about tools for other systems. */
interface McpMethods {
  getActions(): ThinkActions;
}

/**
 * The bot's actions as tools of the Model Context Protocol: at the root the tokens, and in the conversation of each token
 * its calls. The protocol itself is spoken in the Worker (`serveMcp`).
 */
export class McpFeature implements Feature {
  readonly name = "mcp";
  readonly #host: FeatureHost<McpMethods>;
  readonly #options: McpServerOptions;
  #calls: ToolCalls | undefined;
  #tokens: McpTokens | undefined;

  constructor(host: FeatureHost<unknown>, options: McpServerOptions) {
    // Every bot has these methods.
    this.#host = host as FeatureHost<McpMethods>;
    this.#options = options;
  }

  get check(): NonNullable<Feature["check"]> {
    return { method: "mcpServer", run: () => void this.#tools() };
  }

  get calls(): McpCalls {
    return answeredBy<[McpTokens, ToolCalls, McpFeature]>(this.#ownTokens, this.#ownCalls, this);
  }

  isBusy(): boolean {
    return this.#calls?.isBusy() === true;
  }

  async createToken(asked: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }> {
    const { messengers } = this.#host;
    if (asked.person !== undefined && !messengers.isDeclared(asked.person.messenger))
      throw new SwitchboardError(
        "token-messenger-unknown",
        `The bot has no messenger "${asked.person.messenger}". It has: ${messengers
          .all()
          .map(({ id }) => id)
          .join(", ")}.`,
      );
    return this.#ownTokens.create(asked);
  }

  async listTools(caller: McpCaller): Promise<readonly ToolDescriptor[]> {
    const { actions, deps, log } = this.#host;
    const all = await runBotCode({ clock: deps.clock, log }, "getActions", () => this.#tools());
    const tools = [...all.values()].filter((tool) => mayEverCall(tool, caller.scopes));
    const byName = Object.fromEntries(tools.map(({ action, name }) => [name, action]));
    const offered = await actions.offeredOutside(byName, await this.#ownCalls.factsOf(caller));
    return Promise.all(tools.filter(({ name }) => name in offered).map(descriptorOf));
  }

  async callTool(caller: McpCaller, call: ToolCall): Promise<CallAnswer> {
    const tool = this.#tools().get(call.tool);
    if (tool === undefined || !mayEverCall(tool, caller.scopes)) return { kind: "unknown-tool" };
    return this.#ownCalls.call(caller, call, tool);
  }

  get #ownTokens(): McpTokens {
    const { database, deps } = this.#host;
    this.#tokens ??= new McpTokens(database, deps);
    return this.#tokens;
  }

  get #ownCalls(): ToolCalls {
    this.#calls ??= new ToolCalls({ host: this.#host, owner: this.#options.owner });
    return this.#calls;
  }

  /** @throws {ConfigurationError} see `toolsOf` */
  #tools(): ReadonlyMap<string, McpTool> {
    return toolsOf(this.#options, this.#host.agent.getActions());
  }
}
