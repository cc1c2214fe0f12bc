import { asSchema } from "ai";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import type { Json } from "../core/message/content.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { isCovered } from "../actions/declare/authorize.ts";
import type { ToolDescriptor } from "./mcp-calls.ts";
import { outputSchemaOf } from "./output-schema.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";

/** An action as a tool. */
export interface McpTool {
  readonly name: string;
  /** The name that the model calls, and the ledger has. */
  readonly actionName: string;
  readonly action: Action;
}

/** The tool with which clients without tasks look at a call that waits. No action has this name. */
export const TASK_TOOL = "task";

/** Models of most servers accept no other names of tools. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns the tools of a bot by their names.
 *
 * @throws {ConfigurationError} `mcp-tool-name`, `mcp-tool-twice`, `mcp-action-unknown`
 */
export function toolsOf(
  { actions: chosen, app }: Pick<McpServerOptions, "app" | "actions">,
  actions: ThinkActions,
): ReadonlyMap<string, McpTool> {
  const tools = new Map<string, McpTool>();
  const all = Object.entries(actions).map(([key, action]) => [action.name ?? key, action] as const);
  const missing = chosen?.find((name) => !all.some(([known]) => known === name));
  if (missing !== undefined)
    throw new ConfigurationError(
      "mcp-action-unknown",
      `mcpServer() offers the action "${missing}", which getActions() does not have.`,
    );
  for (const [actionName, action] of all) {
    if (chosen !== undefined && !chosen.includes(actionName)) continue;
    const name = toolName(app, actionName);
    if (!TOOL_NAME.test(name))
      throw new ConfigurationError(
        "mcp-tool-name",
        `The action "${actionName}" would be the tool "${name}". A tool's name has 1 to 64 letters, digits, "_" and "-". Give the action another name, or leave it out of mcpServer({ actions }).`,
      );
    if (tools.has(name) || actionName === TASK_TOOL)
      throw new ConfigurationError(
        "mcp-tool-twice",
        `There are two tools "${name}": rename the action "${actionName}", or leave it out of mcpServer({ actions }).`,
      );
    tools.set(name, { name, actionName, action });
  }
  return tools;
}

export function toolName(app: string, actionName: string): string {
  return `${app}__${actionName}`;
}

/** Whether a token could ever call a tool. Permissions that depend on the input are known only at a call. */
export function mayEverCall({ action }: McpTool, scopes: readonly string[] | undefined): boolean {
  const { permissions = [] } = action;
  if (scopes === undefined || typeof permissions === "function") return true;
  return permissions.every((permission) => isCovered(permission, scopes));
}

/** Returns a tool as clients see it. */
export async function descriptorOf({ action, name }: McpTool): Promise<ToolDescriptor> {
  const schema = (await asSchema(action.inputSchema).jsonSchema) as { readonly [key: string]: Json };
  const outputSchema = await outputSchemaOf(action);
  const { destructive, readOnly } = action.annotations ?? {};
  return {
    name,
    description: action.description,
    // A union of objects has no type of its own.
    inputSchema: { ...schema, type: "object" },
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: {
      ...(readOnly !== undefined && { readOnlyHint: readOnly }),
      ...(destructive !== undefined && { destructiveHint: destructive }),
      idempotentHint: readOnly === true || action.idempotencyKey !== undefined,
    },
  };
}
