import { tool, type Tool } from "ai";
import { z } from "zod";

/** Longest time that the shop may take, in milliseconds. */
const TIMEOUT_MS = 8000;

const orderSchema = z.looseObject({ status: z.string() });

export type OrderResult =
  | { readonly found: true; readonly order: Readonly<Record<string, unknown>> }
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
    // Whoever knows a number may ask for its order, so the customer's name stays out of the answer.
    const { customer: _customer, ...order } = orderSchema.parse(await response.json());
    return { found: true, order };
  } catch {
    // No connection, no answer in time, or an answer that is no order: all the same to the customer.
    return noAnswer;
  }
}

/** The tool changes nothing: it runs at once while a person is still writing, and again after a crash. */
export function lookupOrderTool(
  baseUrl: string | undefined,
): Tool<{ id: string }, OrderResult> & { readonly annotations: { readonly readOnly: true } } {
  const lookUp = tool({
    description: "Looks up one order of the shop by its number: status, items, delivery.",
    inputSchema: z.object({ id: z.string().trim().min(1).max(64).describe("The order's number, e.g. 1001") }),
    execute: ({ id }, { abortSignal }) => lookupOrder(baseUrl, id, abortSignal),
  });
  return { ...lookUp, annotations: { readOnly: true } };
}
