import type { JSONSchema7 } from "ai";
import type { Action } from "../actions/declare/action.ts";
import { jsonSchemaOf } from "../core/json/json-schema-of.ts";
import { codeObject } from "./bot-objects.ts";
import { CodemodeConnector, derivedTool } from "./connector.ts";
import type { ConnectorTool, ConnectorTools } from "./connector-tool.ts";

/**
 * The bot's own actions as tools for code, with all their rules.
 *
 * @example new ActionConnector(this.ctx, this.env, ["findOrder", "refund"])
 */
export class ActionConnector<Env = unknown> extends CodemodeConnector<Env> {
  readonly #names: readonly string[] | undefined;

  /** @param names only these actions. @default all */
  constructor(ctx: object, env: Env, names?: readonly string[]) {
    super(ctx, env);
    this.#names = names;
  }

  name(): string {
    return "actions";
  }

  /** Returns the name in code of an action. Undefined: code does not have it. */
  protected methodOf(action: string): string | undefined {
    return this.#names === undefined || this.#names.includes(action) ? action : undefined;
  }

  protected async tools(): Promise<ConnectorTools> {
    const actions = codeObject(this.ctx).feature?.botActions() ?? new Map<string, Action>();
    const tools = await Promise.all(
      [...actions].map(async ([name, action]) => {
        const method = this.methodOf(name);
        return method === undefined ? [] : [[method, await toolOf(name, action)] as const];
      }),
    );
    return Object.fromEntries(tools.flat());
  }
}

/**
 * The tools of one MCP server, to which the owner has agreed (`switchboard/mcp-client`), as tools for code.
 *
 * @example
 * class GithubConnector extends McpConnector<Env> {
 *   name() { return "github"; }
 *   protected override tool(name: string, t: ConnectorTool) {
 *     return name === "create_issue" ? { ...t, requiresApproval: true } : t;
 *   }
 * }
 */
export abstract class McpConnector<Env = unknown> extends ActionConnector<Env> {
  abstract override name(): string;

  /** The name of the server in `mcpClient`. @default `name()` */
  protected server(): string {
    return this.name();
  }

  protected override methodOf(action: string): string | undefined {
    const prefix = `${this.server()}__`;
    return action.startsWith(prefix) ? action.slice(prefix.length) : undefined;
  }
}

async function toolOf(name: string, action: Action): Promise<ConnectorTool> {
  const { annotations, description, inputSchema, kind } = action;
  return derivedTool(name, action, {
    description,
    inputSchema: (await jsonSchemaOf(inputSchema)) as JSONSchema7,
    requiresApproval: kind !== "server",
    ...(annotations?.readOnly === true && kind === "server" && { replay: "reexecute" as const }),
  });
}
