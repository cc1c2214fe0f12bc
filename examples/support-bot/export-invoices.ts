import { action, type Action } from "switchboard";
import { z } from "zod";
import { invoicePdf } from "./invoice.ts";
import { orderId, orderOf } from "./shop.ts";

const MOST_INVOICES = 24;

/** Makes the invoices of many orders, and says below the answer how far it is. */
export function exportInvoices(baseUrl: string | undefined): Action {
  return action({
    description: `Sends the customer the invoices of several orders, at most ${MOST_INVOICES}. It takes a while.`,
    inputSchema: z.object({ orderIds: z.array(orderId).min(2).max(MOST_INVOICES) }),
    // A run that a crash interrupts is repeated, because it changes nothing.
    idempotencyKey: ({ ctx, input }) => `${ctx.requestId}:${input.orderIds.join()}`,
    timeoutMs: 120_000,
    execute: async ({ orderIds }, { attachReply, progress, signal }) => {
      for (const [index, id] of orderIds.entries()) {
        progress({
          message: `Invoice ${index + 1} of ${orderIds.length}`,
          fraction: index / orderIds.length,
        });
        const order = await orderOf(baseUrl, id, signal);
        attachReply({
          type: "document",
          source: await invoicePdf(order),
          name: `invoice-${order.id}.pdf`,
          mediaType: "application/pdf",
        });
      }
      return `Here are ${orderIds.length} invoices.`;
    },
  });
}
