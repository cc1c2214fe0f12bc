import { jsonSchema } from "ai";
import type { Json } from "../../core/message/content.ts";
import { canonicalJson } from "../../core/json/canonical-json.ts";
import { sha256Now } from "../../core/bytes/sha256.ts";
import type { ActionContext } from "../declare/action-context.ts";
import type { Action, ThinkActions } from "../declare/action.ts";

/** The call that undoes an earlier one. */
export interface RevertInput {
  /** The key of the earlier call in the ledger. */
  readonly of: string;
  readonly input: Json;
  readonly output: Json;
}

const UNDO = "undo:";

/** Returns the name of the action that undoes another one. It is no name that a model can call. */
export function revertName(name: string): string {
  return `${UNDO}${name}`;
}

/** Returns the id of the call that undoes an earlier one. */
export function revertCallId(of: string): string {
  return `${UNDO}${sha256Now(of)}`;
}

/**
 * Returns the actions that undo others, by name. Each undoes a call once, with the permissions of the call, and under a key
 * of its own. No model is offered them.
 */
export function revertActions(actions: ThinkActions): ThinkActions {
  const reverts = Object.entries(actions).flatMap(([key, action]) => {
    const name = revertName(action.name ?? key);
    return action.revert === undefined ? [] : [[name, revertAction(name, action)] as const];
  });
  return Object.fromEntries(reverts);
}

interface Call {
  readonly input: RevertInput;
  readonly ctx: ActionContext;
}

function revertAction(name: string, { permissions, revert, timeoutMs }: Action): Action {
  return {
    kind: "server",
    isTool: true,
    name,
    description: name,
    inputSchema: jsonSchema<RevertInput>({ type: "object" }),
    enabled: (ctx: Partial<ActionContext>) => ctx.toolCallId?.startsWith(UNDO) === true,
    idempotencyKey: ({ input }: Call) => sha256Now(canonicalJson(input.of)),
    ...(permissions !== undefined && {
      permissions:
        typeof permissions === "function"
          ? ({ ctx, input }: Call) => permissions({ ctx, input: input.input } as never)
          : permissions,
    }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    execute: (input: RevertInput, ctx: ActionContext) =>
      revert?.({ input: input.input, output: input.output, ctx } as never),
  };
}
