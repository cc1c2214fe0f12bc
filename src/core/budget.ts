import type { Address, Pacing } from "./surface.ts";

/**
 * What a call is for. In this order of worth: `answer` (a press of a button; never delayed), `final` (the last state
 * of a reply; has a slot kept for it), `post` (a message that must become visible), `edit` (an interim state) and
 * `typing`, which are shed first (I7).
 */
export type CallPurpose = "answer" | "final" | "post" | "edit" | "typing";

export type Grant =
  | { readonly kind: "granted" }
  /** Not now. Ask again at `retryAt` (epoch milliseconds); for `edit` and `typing`, or skip the call. */
  | { readonly kind: "wait"; readonly retryAt: number; readonly reason: "pacing" | "penalty" };

/**
 * One budget and one penalty memory per chat, for all threads and topics of that chat. The root object holds it;
 * threads ask before every call. Neither method throws for a full budget.
 */
export interface Budget {
  acquire(address: Address, purpose: CallPurpose, pacing: Pacing): Promise<Grant>;
  /** The platform refused a call for `retryAfterMs`: nothing is sent to this chat until then (I8). Durable. */
  penalize(address: Address, retryAfterMs: number): Promise<void>;
}
