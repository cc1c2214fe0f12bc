import { z } from "zod";

/** Longest time that the shop may take, in milliseconds. */
const TIMEOUT_MS = 8000;

const item = z.object({ name: z.string(), quantity: z.number(), priceCents: z.number() });
const orderSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  items: z.array(item).optional(),
  totalCents: z.number().optional(),
  currency: z.string().optional(),
  refundedCents: z.number().optional(),
  expectedOn: z.string().optional(),
  trackingNumber: z.string().optional(),
  /** An https address. */
  picture: z.string().optional(),
});

export type Order = Readonly<z.infer<typeof orderSchema>>;

export type OrderResult =
  | { readonly found: true; readonly order: Order }
  | { readonly found: false; readonly message: string };

/** Looks orders up in the shop's backend, `GET <baseUrl>/orders/<id>`. It never throws for what the shop does. */
export async function lookupOrder(
  baseUrl: string | undefined,
  id: string,
  signal?: AbortSignal,
): Promise<OrderResult> {
  const noAnswer = {
    found: false,
    message: "The order system isn't responding right now. Please try again later.",
  } as const;
  if (!baseUrl) return noAnswer;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/orders/${encodeURIComponent(id)}`, {
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (response.status === 404) return { found: false, message: `There is no order with the number ${id}.` };
    if (!response.ok) return noAnswer;
    // Anyone who knows a number may ask for its order, so the customer's name stays out of the answer.
    const { customer: _customer, ...order } = orderSchema.parse(await response.json());
    return { found: true, order };
  } catch {
    // No connection, no answer in time, or an answer without an order: the customer need not know which.
    return noAnswer;
  }
}
