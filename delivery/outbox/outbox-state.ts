import type { OutboxState } from "../../src/core/delivery.ts";

/**
 * What happens to one outbox row.
 *
 * - `begin`: a post is about to leave
 * - `posted`: the platform answered with a message id, in time or late
 * - `refused`: the post provably did not happen, said in time or late
 * - `lost`: the post ended without an answer, or a row was found `sending` after a crash
 * - `removed`: the message was visible and is taken away, or a person took it away
 * - `deleted`: the message cannot be edited any more before it held its whole text, mostly because a person took it away;
 *   it is posted anew
 * - `failed`: the row will never show what it should
 */
export type OutboxEvent = "begin" | "posted" | "refused" | "lost" | "removed" | "deleted" | "failed";

type Transitions = Readonly<Record<OutboxState, Readonly<Partial<Record<OutboxEvent, OutboxState>>>>>;

/** The one place where a row's state changes. What is not in the table is a defect of the engine. */
export const OUTBOX_TRANSITIONS: Transitions = {
  planned: { begin: "sending", failed: "failed" },
  sending: { posted: "sent", refused: "planned", lost: "unknown", failed: "failed" },
  unknown: { begin: "sending", posted: "sent", refused: "planned", failed: "failed" },
  sent: { removed: "removed", deleted: "planned", failed: "failed" },
  removed: { begin: "sending" },
  failed: {},
};

export function nextState(state: OutboxState, event: OutboxEvent): OutboxState {
  const next = OUTBOX_TRANSITIONS[state][event];
  if (next === undefined) throw new TypeError(`An outbox row that is ${state} cannot be ${event}.`);
  return next;
}
