import { ActionError } from "switchboard";
import { z } from "zod";
import { lookupOrder, type Order } from "./lookup-order.ts";
import { NOT_REACHED } from "./texts.ts";

/** Order number of an action's input. */
export const orderId = z.string().trim().min(1).max(64).describe("The order's number, e.g. 1001");

const refusalSchema = z.object({ error: z.string() });

/**
 * Returns an order.
 *
 * @throws {ActionError} if there is none, or the shop does not answer
 */
export async function orderOf(baseUrl: string | undefined, id: string, signal?: AbortSignal): Promise<Order> {
  const result = await lookupOrder(baseUrl, id, signal);
  if (result.found) return result.order;
  throw new ActionError(result.message);
}

/**
 * Changes something in the shop. `key` makes a repeated request harmless.
 *
 * @throws {ActionError} with the shop's own words if it refuses
 */
export async function changeInShop(
  baseUrl: string | undefined,
  path: string,
  { body, key, signal }: { readonly body: object; readonly key: string; readonly signal: AbortSignal },
): Promise<unknown> {
  if (!baseUrl) throw new ActionError(`${NOT_REACHED} Nothing was changed.`);
  const response = await fetch(`${baseUrl.replace(/\/+$/, "")}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
    signal,
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const refusal = refusalSchema.safeParse(answer);
  throw new ActionError(refusal.success ? refusal.data.error : "The shop refused that.");
}
