import type { FlexibleSchema } from "ai";
import type { ActionContext as AnyActionContext } from "./actions/declare/action-context.ts";
import type { Action, ActionOptions as AnyActionOptions } from "./actions/declare/action.ts";
import { actionBuilder } from "./actions/declare/action-builder.ts";
import type { ActionBuilder } from "./actions/declare/action-builder.ts";
import { defineAction as withDefaults } from "./actions/declare/define-action.ts";
import type { Think } from "./think.ts";

/** The second argument of an action's code. */
export type ActionContext = AnyActionContext<Think, Cloudflare.Env>;

/** Definition of an action. See `action`. */
export type ActionOptions<
  Schema extends FlexibleSchema,
  Output,
  Memory extends FlexibleSchema = FlexibleSchema,
> = AnyActionOptions<Schema, Output, ActionContext, Memory>;

/**
 * Defines an action: a tool whose effect happens once, that may need a permission or somebody's consent. The type of the
 * input of `execute` follows from `inputSchema`.
 *
 * @throws {ConfigurationError} `action-never-waits`, `action-time`, `action-expiry`, `action-without-approver`,
 *   `action-ask-in` or `action-annotations` if its options contradict each other
 * @example
 * getActions() {
 *   return {
 *     cancel_order: action({
 *       description: "Cancel an order.",
 *       inputSchema: z.object({ orderId: z.string() }),
 *       idempotencyKey: ({ input }) => input.orderId,
 *       approval: true,
 *       execute: ({ orderId }, { signal }) => cancelOrder(orderId, signal),
 *     }),
 *   };
 * }
 */
export function action<Schema extends FlexibleSchema, Output, Memory extends FlexibleSchema = FlexibleSchema>(
  options: ActionOptions<Schema, Output, Memory>,
): Action {
  return withDefaults(options);
}

/**
 * Defines an action step by step, with a time limit of 60 seconds. Its name is that of the model's tool.
 *
 * @example
 * getActions() {
 *   return {
 *     addItem: defineAction("addItem")
 *       .describe("Add an item to the cart")
 *       .input(z.object({ sku: z.string(), quantity: z.number().int().positive() }))
 *       .annotate({ destructive: false })
 *       .timeout({ ms: 10_000 })
 *       .handler(({ sku, quantity }) => cart.add(sku, quantity)),
 *   };
 * }
 */
export function defineAction(name: string): ActionBuilder<ActionContext> {
  return actionBuilder(name);
}
