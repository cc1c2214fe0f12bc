import { action, type Action } from "switchboard";
import { z } from "zod";
import { changeInShop, orderId, orderOf } from "./shop.ts";
import { euros } from "./texts.ts";

/** Refunds from this amount need somebody's consent, in cents. */
const CONSENT_FROM_CENTS = 5_000;
const HIGH_RISK_ABOVE_CENTS = 50_000;
/** People may agree in advance to refunds up to this amount, in cents. */
const GRANT_UP_TO_CENTS = 10_000;

const refundSchema = z.object({
  id: z.string(),
  status: z.string(),
  amountCents: z.number(),
  currency: z.string(),
});

/**
 * Refunds money for an order, once for each order: `POST <baseUrl>/refunds` with an `idempotency-key`, so that a repeated
 * request is answered with the same refund. People who decide can change the amount: **More**, **Edit**.
 */
export function refundOrder(baseUrl: string | undefined): Action {
  return action({
    description:
      "Refunds money for one order of the shop. Ask for the amount if the customer has named none.",
    inputSchema: z.object({
      orderId,
      amountCents: z.number().int().positive().describe("How much to refund, in cents"),
    }),
    labels: { orderId: "Order", amountCents: "Amount in cents" },
    idempotencyKey: ({ input }) => input.orderId,
    idempotencyScope: "bot",
    permissions: ["billing:refund"],
    approval: ({ input }) => input.amountCents >= CONSENT_FROM_CENTS,
    approvalSummary: ({ input }) => `Refund ${euros(input.amountCents)} for order ${input.orderId}`,
    approvalRisk: ({ input }) => (input.amountCents > HIGH_RISK_ABOVE_CENTS ? "high" : "medium"),
    grantable: ({ input }) =>
      input.amountCents <= GRANT_UP_TO_CENTS
        ? { scope: `up to ${GRANT_UP_TO_CENTS}`, words: `Refunds up to ${euros(GRANT_UP_TO_CENTS)}` }
        : undefined,
    preview: async ({ input }) => {
      const { refundedCents = 0, totalCents = 0 } = await orderOf(baseUrl, input.orderId);
      const after = refundedCents + input.amountCents;
      return [{ label: `Refunded of ${euros(totalCents)}`, from: euros(refundedCents), to: euros(after) }];
    },
    execute: async (input, { signal }) => {
      const key = `refund-${input.orderId}`;
      return {
        refund: refundSchema.parse(await changeInShop(baseUrl, "/refunds", { body: input, key, signal })),
      };
    },
  });
}
