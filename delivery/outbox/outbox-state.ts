import type { OutboxState } from "../../src/core/chat/delivery.ts";

/**
 * Events of an outbox row.
 *
 * - `begin`: a post is about to leave
 * - `posted`: the platform answered with a message id, in time or late
 * - `refused`: the post was certainly not made; known in time or late
 * - `lost`: the post ended without an answer, or a row was `sending` after a crash
 * - `removed`: the message was visible and is removed, by the bot or by a person
 * - `deleted`: the message can no longer be edited before it held its whole text, usually because a person deleted it;
 *   it is posted again
 * - `failed`: the row will never show its text
 */
export type OutboxEvent = "begin" | "posted" | "refused" | "lost" | "removed" | "deleted" | "failed";

type Transitions = Readonly<Record<OutboxState, Readonly<Partial<Record<OutboxEvent, OutboxState>>>>>;

/** All transitions of a row's state. Any other transition is a defect of the engine. */
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
