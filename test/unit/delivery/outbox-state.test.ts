import { expect, it } from "vitest";
import { nextState } from "../../../delivery/outbox/outbox-state.ts";
import type { OutboxEvent } from "../../../delivery/outbox/outbox-state.ts";
import type { OutboxState } from "../../../src/core/chat/delivery.ts";

const EVENTS: readonly OutboxEvent[] = ["begin", "posted", "refused", "lost", "removed", "deleted", "failed"];

/** The whole table: one row for each state, one column for each of the events above. */
const TABLE: Readonly<Record<OutboxState, readonly (OutboxState | "-")[]>> = {
  planned: ["sending", "-", "-", "-", "-", "-", "failed"],
  sending: ["-", "sent", "planned", "unknown", "-", "-", "failed"],
  unknown: ["sending", "sent", "planned", "-", "-", "-", "failed"],
  sent: ["-", "-", "-", "-", "removed", "planned", "failed"],
  removed: ["sending", "-", "-", "-", "-", "-", "-"],
  failed: ["-", "-", "-", "-", "-", "-", "-"],
};

const CASES = Object.entries(TABLE).flatMap(([state, nexts]) =>
  EVENTS.map((event, index) => ({ state: state as OutboxState, event, next: nexts[index] })),
);

it.each(CASES)("takes a row that is $state and $event to $next", ({ state, event, next }) => {
  if (next === "-") expect(() => nextState(state, event)).toThrow(TypeError);
  else expect(nextState(state, event)).toBe(next);
});
