import { action, ActionError, type Action } from "switchboard";
import { z } from "zod";

/** Refunds from this amount need somebody's consent, in cents. */
const CONSENT_FROM_CENTS = 5_000;
const HIGH_RISK_ABOVE_CENTS = 50_000;

const inputSchema = z.object({
  orderId: z.string().trim().min(1).max(64).describe("The order's number, e.g. 1001"),
  amountCents: z.number().int().positive().describe("How much to refund, in cents"),
});

const refundSchema = z.object({
  id: z.string(),
  status: z.string(),
  amountCents: z.number(),
  currency: z.string(),
});
const refusalSchema = z.object({ error: z.string() });

/**
 * Refunds money for an order, once for each order: `POST <baseUrl>/refunds` with an `idempotency-key`, so that a repeated
 * request is answered with the same refund.
 */
export function refundOrderAction(baseUrl: string | undefined): Action {
  return action({
    description:
      "Refunds money for one order of the shop. Ask for the amount if the customer has named none.",
    inputSchema,
    idempotencyKey: ({ input }) => input.orderId,
    idempotencyScope: "bot",
    approval: ({ input }) => input.amountCents >= CONSENT_FROM_CENTS,
    approvalSummary: ({ input }) => `Refund ${euros(input.amountCents)} for order ${input.orderId}`,
    approvalRisk: ({ input }) => (input.amountCents > HIGH_RISK_ABOVE_CENTS ? "high" : "medium"),
    execute: async (input, { signal }) => {
      if (!baseUrl)
        throw new ActionError("The order system isn't responding right now. Nothing was refunded.");
      const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/refunds`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": `refund-${input.orderId}` },
        body: JSON.stringify(input),
        signal,
      });
      const answer: unknown = await response.json();
      if (response.ok) return { refund: refundSchema.parse(answer) };
      const refusal = refusalSchema.safeParse(answer);
      throw new ActionError(refusal.success ? refusal.data.error : "The shop refused the refund.");
    },
  });
}

function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`;
}
