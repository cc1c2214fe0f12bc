import type { JSONValue, Tool, ToolSet } from "ai";
import type { ActionContext } from "../declare/action-context.ts";
import type { Action } from "../declare/action.ts";
import { isFailure, isWaitingResult } from "../declare/action-errors.ts";
import { compileAction } from "./compile-actions.ts";
import type { ActionHost } from "../runs/action-host.ts";

type BotTool = ToolSet[string];

/** A tool has no time limit of its own. This is the longest time that a timer can wait. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Returns the tools with every call that needs approval behind a question to people (`needsApproval` of the AI SDK).
 *
 * Such a tool is an action without a key: it waits, is decided about and tells its outcome like one, but two calls are
 * always two effects. Its other properties, such as `toModelOutput`, stay.
 */
export function gateTools(tools: ToolSet, host: ActionHost, requestId: () => string): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const action = actionOfTool(tool);
      return [name, action === undefined ? tool : gated(name, tool, action, host, requestId)];
    }),
  );
}

/** The property of a tool that has an action in its place. */
export const ACTION_IN_PLACE = Symbol("action");

/** Returns the action that stands for a tool: its own, or one for `needsApproval`. Undefined for any other tool. */
export function actionOfTool(tool: BotTool | undefined): Action | undefined {
  const own: unknown = tool === undefined ? undefined : Reflect.get(tool, ACTION_IN_PLACE);
  if (own !== undefined) return own as Action;
  if (tool === undefined || tool.type === "provider" || typeof tool.execute !== "function") return undefined;
  const needs = needsApprovalOf(tool);
  if (needs === undefined || needs === false) return undefined;
  const { execute } = tool;
  return {
    kind: "approval-gated",
    isTool: true,
    description: typeof tool.description === "string" ? tool.description : "",
    inputSchema: tool.inputSchema,
    timeoutMs: NO_LIMIT_MS,
    approval:
      needs === true
        ? true
        : async ({ ctx, input }: { readonly ctx: ActionContext; readonly input: unknown }) =>
            needs(input, optionsOf(ctx)),
    execute: (input: unknown, ctx: ActionContext) =>
      lastPiece(execute(input as never, optionsOf(ctx) as never)),
  };
}

type NeedsApproval = boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>);

function needsApprovalOf(tool: BotTool): NeedsApproval | undefined {
  // oxlint-disable-next-line typescript/no-deprecated -- bots still declare approvals so
  return tool.needsApproval as NeedsApproval | undefined;
}

function optionsOf({ messages, signal, toolCallId }: ActionContext): object {
  return { toolCallId, messages, abortSignal: signal, context: undefined };
}

function gated(
  name: string,
  tool: BotTool,
  action: Action,
  host: ActionHost,
  requestId: () => string,
): BotTool {
  const {
    // oxlint-disable-next-line typescript/no-deprecated -- the turn engine would end the turn for it
    needsApproval: _asked,
    annotations: _annotations,
    ...rest
  } = tool as BotTool & { readonly annotations?: unknown };
  const compiled = compileAction(name, action, host, requestId);
  const { toModelOutput } = tool as Pick<Tool<unknown, unknown>, "toModelOutput">;
  const asked = { ...rest, inputSchema: compiled.inputSchema, execute: compiled.execute, recovery: "rerun" };
  if (toModelOutput === undefined) return asked;
  // The tool's author knows only the tool's own outputs.
  const ownOutput: typeof toModelOutput = (result) =>
    isWaitingResult(result.output) || isFailure(result.output)
      ? { type: "json", value: result.output as unknown as JSONValue }
      : toModelOutput(result);
  return { ...asked, toModelOutput: ownOutput };
}

/** A tool may return its result in pieces. The last one counts. */
async function lastPiece(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const piece of output as AsyncIterable<unknown>) last = piece;
  return last;
}
