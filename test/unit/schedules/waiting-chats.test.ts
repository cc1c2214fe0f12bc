import { expect, it } from "vitest";
import type { LegReport } from "../../../src/scheduled-runs/leg.ts";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

const HOUR_MS = 3_600_000;
const each: ThinkScheduledTasks = {
  digest: { schedule: "every day at 09:00", prompt: "Write it.", deliverTo: "ada", fanOut: "each" },
};

it("an occurrence of many conversations waits while somebody decides in one of them, and says where", async () => {
  const rig = new ScheduleRig(each);
  rig.find = () => ({ kind: "found", targets: ["c1", "c2", "tokyo"].map(targetOf) });
  // It is 18:00 in Tokyo.
  rig.quiet = { tokyo: { from: 18 * HOUR_MS, to: 20 * HOUR_MS, zone: "Asia/Tokyo" } };
  let states: Readonly<Record<string, LegReport["state"]>> = { c1: "open", c2: "waiting" };
  rig.report = ({ request: { address, id } }) => {
    const state = states[address?.chatId ?? ""] ?? "completed";
    return state === "completed" ? { state, messageIds: [`m-${id}`] } : { state };
  };
  const deliveries = (): string[] => rig.schedules.list()[0]?.deliveries.map(({ state }) => state) ?? [];
  await rig.runUntil("2026-11-19T09:10Z");
  expect(rig.ends("digest"), "one of them still writes").toEqual(["11-19T09:00 running"]);
  expect(deliveries()).toEqual(["pending", "waiting", "pending"]);
  states = { c2: "waiting" };
  await rig.runUntil("2026-11-19T09:30Z");
  expect(rig.ends("digest")).toEqual(["11-19T09:00 waiting"]);
  expect(deliveries()).toEqual(["delivered", "waiting", "pending"]);
  await rig.runUntil("2026-11-19T11:05Z");
  expect(deliveries(), "quiet hours end while it waits").toEqual(["delivered", "waiting", "delivered"]);
  states = {};
  await rig.runUntil("2026-11-19T12:00Z");
  expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
});
