import type { Action } from "../actions/declare/action.ts";
import type {
  ConnectorDescription,
  ConnectorTool,
  ConnectorTools,
  ToolExecuteContext,
} from "./connector-tool.ts";
import { typesOf } from "./types-of.ts";

/**
 * A set of tools for code, as one object: its name, and its tools. Every call passes through the bot's actions, so it has
 * their permission, approval, ledger and log.
 *
 * @example
 * class GithubConnector extends CodemodeConnector<Env> {
 *   name() { return "github"; }
 *   protected tools() {
 *     return { create_issue: { description: "Creates an issue.", requiresApproval: true, execute: (args) => create(args) } };
 *   }
 * }
 */
export abstract class CodemodeConnector<Env = unknown> {
  protected readonly ctx: object;
  protected readonly env: Env;

  /** @param ctx `this.ctx` of the bot */
  constructor(ctx: object, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }

  /** The name of the object in the code. */
  abstract name(): string;

  /** More words for the model. */
  protected instructions(): string | undefined {
    return undefined;
  }

  protected abstract tools(): ConnectorTools | Promise<ConnectorTools>;

  /** Changes a tool, for instance one of a server: `{ ...tool, requiresApproval: true }`. */
  protected tool(_name: string, tool: ConnectorTool): ConnectorTool {
    return tool;
  }

  /** Returns the connector as the runtime uses it. */
  async describe(): Promise<ConnectorDescription> {
    const tools = Object.entries(await this.tools()).map(
      ([name, one]) => [name, this.tool(name, one)] as const,
    );
    return { name: this.name(), instructions: this.instructions(), tools: Object.fromEntries(tools) };
  }

  /** Undoes an applied call. Returns whether the tool can be undone. */
  async revertAction(
    method: string,
    args: unknown,
    result: unknown,
    ctx?: ToolExecuteContext,
  ): Promise<boolean> {
    const { tools } = await this.describe();
    const one = Object.hasOwn(tools, method) ? tools[method] : undefined;
    if (one?.revert === undefined) return false;
    await one.revert(args, result, ctx);
    return true;
  }

  /** Returns TypeScript's declaration of the object, as the model reads it. */
  async getTypeScriptTypes(): Promise<string> {
    return typesOf(await this.describe());
  }
}

/** An action of the bot that a tool stands for. */
export interface DerivedTool {
  readonly name: string;
  readonly action: Action;
  /** Whether the action itself may ask people. */
  readonly asks: boolean;
  readonly execute: ConnectorTool["execute"];
}

const derivedTools = new WeakMap<ConnectorTool["execute"], DerivedTool>();

/** Returns a tool that stands for an action. It is found again after `tool()` has changed it. */
export function derivedTool(
  name: string,
  action: Action,
  tool: Omit<ConnectorTool, "execute">,
): ConnectorTool {
  const execute = (): never => {
    throw new TypeError(`The action "${name}" runs only through a run of code.`);
  };
  derivedTools.set(execute, { name, action, asks: action.kind !== "server", execute });
  return { ...tool, execute };
}

export function derivedFrom(tool: ConnectorTool): DerivedTool | undefined {
  return derivedTools.get(tool.execute);
}
