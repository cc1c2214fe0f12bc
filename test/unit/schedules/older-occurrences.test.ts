import { expect, it } from "vitest";
import type { Leg, Occurrence } from "../../../src/schedules/rules/occurrence.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

const KEY = "digest@2026-11-18T11:59:00Z";

/** A root in which a version before 0.2.0 has stored a digest that is on its way to two chats. */
function upgraded(fanOut: "once" | "each", legs: readonly Leg[]): ScheduleRig {
  const rig = new ScheduleRig({
    digest: { schedule: "every day at 11:59", prompt: "Write it.", deliverTo: "ada", fanOut },
  });
  const at = rig.clock.now() - 60_000;
  const occurrence: Occurrence = {
    key: KEY,
    taskId: "digest",
    scheduledFor: at,
    state: "running",
    prompt: "Write it.",
    text: fanOut === "once" ? "The digest." : undefined,
    sourceHash: undefined,
    targets: [targetOf("c1"), targetOf("c2")],
    isMany: false,
    legs,
    spent: undefined,
    attempts: 1,
    lateMs: 0,
    nextAt: at,
    code: undefined,
    createdAt: at,
    startedAt: at,
    endedAt: undefined,
    troubleSince: undefined,
    news: undefined,
  };
  rig.schedules.save(occurrence);
  return rig;
}

function leg(chat: string, index: number, state: Leg["state"], recites: boolean): Leg {
  return { ...targetOf(chat), recites, submissionId: `schedule:${KEY}#1.${index}`, state, messageIds: [] };
}

const ALONE: Leg = {
  conversation: "task:digest",
  recites: false,
  submissionId: `schedule:${KEY}#1.0`,
  state: "done",
  messageIds: [],
};

it.each([
  ["once", [ALONE, leg("c1", 1, "open", true), leg("c2", 2, "new", true)]],
  ["each", [leg("c1", 0, "open", false), leg("c2", 1, "new", false)]],
] as const)("a digest of an earlier version ends on its old way: fanOut %s", async (fanOut, legs) => {
  const rig = upgraded(fanOut, legs);
  const known = legs.find(({ state }) => state === "open");
  const { address, conversation = "", submissionId: id = "" } = known ?? {};
  const recites = fanOut === "once" ? "The digest." : undefined;
  rig.turns.push({ conversation, request: { id, prompt: "", recites, address, metadata: undefined } });
  await rig.runUntil("2026-11-18T12:05:00Z");
  expect(rig.ends("digest")).toEqual(["11-18T11:59 delivered"]);
  expect(rig.turns.map((turn) => [turn.conversation, turn.request.recites])).toEqual([
    ["thread:c1", recites],
    ["thread:c2", recites],
  ]);
  expect(rig.broadcasts).toEqual([]);
  expect(rig.schedules.list()[0]?.deliveries).toMatchObject([
    { address: { chatId: "c1" }, state: "delivered" },
    { address: { chatId: "c2" }, state: "delivered" },
  ]);
});
