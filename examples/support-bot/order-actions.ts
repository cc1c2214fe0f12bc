import { action, type Action, type ActionContext } from "switchboard";
import { z } from "zod";
import { changeInShop, orderId, orderOf } from "./shop.ts";

/** Cancels an order that is still in the shop. Nobody can take that back, so a person always has to agree. */
export function cancelOrder(baseUrl: string | undefined): Action {
  return action({
    description: "Cancels an order of the shop, as long as it is not shipped. It cannot be undone.",
    inputSchema: z.object({ orderId }),
    annotations: { destructive: true },
    idempotencyKey: ({ input }) => input.orderId,
    idempotencyScope: "bot",
    permissions: ["orders:cancel"],
    approval: true,
    approvalSummary: ({ input }) => `Cancel order ${input.orderId}`,
    approvalRisk: "high",
    preview: async ({ input }) => {
      const { status } = await orderOf(baseUrl, input.orderId);
      return [{ label: "Status", from: status, to: "cancelled" }];
    },
    execute: async (input, { signal }) => {
      const path = `/orders/${encodeURIComponent(input.orderId)}/cancel`;
      await changeInShop(baseUrl, path, { body: {}, key: `cancel-${input.orderId}`, signal });
      return `Order ${input.orderId} is cancelled.`;
    },
  });
}

/** Sends an order that is still in the shop to another address. */
export function changeAddress(baseUrl: string | undefined): Action {
  return action({
    description: "Changes the delivery address of an order, as long as it is not shipped.",
    inputSchema: z.object({
      orderId,
      address: z.string().trim().min(5).max(300).describe("The whole new address, in one line"),
    }),
    // Once for each request: an order may go back to an address that it had before.
    idempotencyKey: ({ ctx, input }) => keyOf(ctx, input),
    permissions: ["orders:address"],
    approval: true,
    approvalSummary: ({ input }) => `Send order ${input.orderId} to another address`,
    approvalRisk: "medium",
    preview: ({ input }) => [{ label: "Delivery address", to: input.address }],
    execute: async (input, ctx) => {
      const path = `/orders/${encodeURIComponent(input.orderId)}/address`;
      const key = `address-${keyOf(ctx, input)}`;
      await changeInShop(baseUrl, path, { body: { address: input.address }, key, signal: ctx.signal });
      return `Order ${input.orderId} goes to ${input.address}.`;
    },
  });
}

function keyOf(
  { requestId }: Pick<ActionContext, "requestId">,
  { address, orderId: id }: { readonly address: string; readonly orderId: string },
): string {
  return `${requestId}:${id}:${address}`;
}
