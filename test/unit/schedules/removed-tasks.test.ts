import { describe, expect, it } from "vitest";
import type { LegReport } from "../../../src/scheduled-runs/leg.ts";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import { ScheduleRig } from "./schedule-rig.ts";

const digest: ThinkScheduledTasks = {
  digest: { schedule: "every day at 09:00", prompt: "Write it.", deliverTo: "ada" },
};

/** A digest of 09:00 that has waited for somebody's decision since. */
async function waiting(): Promise<ScheduleRig> {
  const rig = new ScheduleRig(digest);
  rig.report = () => ({ state: "waiting" });
  await rig.runUntil("2026-11-19T11:00Z");
  expect(rig.ends("digest")).toEqual(["11-19T09:00 waiting"]);
  return rig;
}

const ENDED = ["schedule:digest@2026-11-19T09:00:00Z#1.0"];

describe("a task that is removed while an occurrence of it waits", () => {
  it("ends the occurrence and its turns at once", async () => {
    const rig = await waiting();
    rig.tasks = {};
    rig.schedules.tasks.reconcile();
    await rig.runUntil("2026-11-19T11:00:01Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: task-removed"]);
    expect(rig.ended).toEqual(ENDED);
  });

  it("ends its turns at once, wherever the process dies", async () => {
    const counted = await waiting();
    const before = counted.points;
    counted.tasks = {};
    counted.restart();
    await counted.runUntil("2026-11-19T11:00:10Z");
    const last = counted.points;
    expect(last - before).toBeGreaterThan(3);
    for (let killAt = before + 1; killAt <= last; killAt += 1) {
      const rig = await waiting();
      rig.killAt = killAt;
      rig.tasks = {};
      rig.restart();
      await rig.runUntil("2026-11-19T11:00:10Z");
      expect(rig.kills).toBe(1);
      expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: task-removed"]);
      expect(rig.ended).toEqual(ENDED);
    }
  });

  it("tries again until its turns could be ended", async () => {
    const rig = await waiting();
    rig.tasks = {};
    rig.canEnd = false;
    rig.restart();
    await rig.runUntil("2026-11-19T11:01Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 waiting"]);
    rig.canEnd = true;
    await rig.runUntil("2026-11-19T11:03Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: task-removed"]);
    expect(rig.ended).toEqual(ENDED);
  });

  it("ends it at once also if it is removed during a step", async () => {
    const rig = await waiting();
    const looks: number[] = [];
    rig.report = () => {
      rig.tasks = {};
      if (looks.push(rig.clock.now()) === 1) rig.schedules.tasks.reconcile();
      return { state: "waiting" };
    };
    while (looks.length === 0) await rig.runUntil(new Date(rig.clock.now() + 60_000).toISOString());
    await rig.runUntil(new Date(rig.clock.now() + 1000).toISOString());
    expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: task-removed"]);
  });
});

it("an occurrence looks again at once if something about it changes during its step", async () => {
  const rig = await waiting();
  const looks: number[] = [];
  rig.report = (): LegReport => {
    if (looks.push(rig.clock.now()) > 1) return { state: "completed", text: "" };
    // The decision comes while the answer about the time before it is on its way.
    rig.schedules.nudge("digest@2026-11-19T09:00:00Z");
    return { state: "waiting" };
  };
  while (looks.length === 0) await rig.runUntil(new Date(rig.clock.now() + 60_000).toISOString());
  await rig.runUntil(new Date(rig.clock.now() + 1000).toISOString());
  expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: empty-answer"]);
});

describe("a task that somebody has stopped for good", () => {
  const HOUR_MS = 3_600_000;
  const NIGHT = { from: 22 * HOUR_MS, to: 7 * HOUR_MS, zone: "UTC" };
  const late: ThinkScheduledTasks = {
    late: { schedule: "every day at 23:00", prompt: "Write it.", deliverTo: "ada", fanOut: "each" },
  };

  it("runs no turn that has waited for the end of a chat's quiet hours", async () => {
    const rig = new ScheduleRig(late);
    rig.quiet = { c1: NIGHT };
    await rig.runUntil("2026-11-18T23:30Z");
    expect(rig.ends("late")).toEqual(["11-18T23:00 running"]);
    await rig.stop("late");
    await rig.runUntil("2026-11-19T08:00Z");
    expect(rig.ends("late")).toEqual(["11-18T23:00 skipped: cancelled"]);
    expect(rig.turns).toEqual([]);
  });

  it("runs no occurrence that has waited for the end of its own quiet hours", async () => {
    const rig = new ScheduleRig({
      late: {
        schedule: "every day at 23:00",
        prompt: "Write it.",
        deliverTo: "ada",
        quietHours: { from: "22:00", to: "07:00", timezone: "UTC" },
      },
    });
    await rig.runUntil("2026-11-18T23:30Z");
    expect(rig.ends("late")).toEqual(["11-18T23:00 due"]);
    await rig.stop("late");
    await rig.runUntil("2026-11-19T08:00Z");
    expect(rig.ends("late")).toEqual(["11-18T23:00 skipped: schedule-deleted"]);
    expect(rig.turns).toEqual([]);
  });
});
