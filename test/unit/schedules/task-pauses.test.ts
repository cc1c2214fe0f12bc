import { describe, expect, it } from "vitest";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

const DAILY = { schedule: "every day at 09:00" } as const;
const digest: ThinkScheduledTasks = { digest: { ...DAILY, prompt: "Write it.", deliverTo: "ada" } };
const owned: ThinkScheduledTasks = {
  digest: { ...DAILY, prompt: "Write it.", deliverTo: "ada", owner: "ada" },
};

function fails(): never {
  throw new Error("no");
}

function handlerOf(handler: () => void, more: object = {}): ThinkScheduledTasks {
  return { job: { ...DAILY, ...more, handler } };
}

describe("scheduled tasks that fail", () => {
  it("with an owner pause after five failures in a row, and tell the owner of the first and the last", async () => {
    const rig = new ScheduleRig(owned);
    rig.report = () => ({ state: "failed", code: "turn-failed" });
    await rig.runUntil("2026-11-30T12:00Z");
    expect(rig.ends("digest")).toHaveLength(5);
    expect(rig.told).toEqual([
      "digest failing digest@2026-11-19T09:00:00Z",
      "digest paused digest@2026-11-23T09:00:00Z",
    ]);
    expect(rig.schedules.tasks.isPaused("digest")).toBe(true);
    rig.restart();
    rig.report = ({ request }) =>
      request.address === undefined
        ? { state: "completed", text: "The digest." }
        : { state: "completed", messageIds: ["1"] };
    rig.schedules.tasks.pause("digest", false);
    await rig.runUntil("2026-12-01T12:00Z");
    expect(rig.ends("digest").at(-1)).toBe("12-01T09:00 delivered");
    expect(rig.told).toHaveLength(2);
  });

  it("go on while nobody can be told how to resume them, and pause when somebody can", async () => {
    const rig = new ScheduleRig(owned);
    rig.report = () => ({ state: "failed", code: "turn-failed" });
    rig.canTellOwner = false;
    await rig.runUntil("2026-11-25T12:00Z");
    expect(rig.ends("digest")).toHaveLength(7);
    expect(rig.schedules.tasks.records()).toMatchObject([{ failures: 7, isPaused: false }]);
    rig.canTellOwner = true;
    await rig.runUntil("2026-11-30T12:00Z");
    expect(rig.told).toEqual(["digest paused digest@2026-11-26T09:00:00Z"]);
    expect(rig.ends("digest")).toHaveLength(8);
  });

  it.each([
    ["a prompt without an owner", digest],
    ["a handler", handlerOf(fails)],
    ["a handler with an owner", handlerOf(fails, { owner: "ada" })],
  ])("of %s go on, however often they fail", async (_kind, tasks) => {
    const rig = new ScheduleRig(tasks);
    rig.report = () => ({ state: "failed", code: "turn-failed" });
    await rig.runUntil("2026-11-26T12:00Z");
    expect(rig.schedules.tasks.records()).toMatchObject([{ failures: 8, isPaused: false }]);
    expect(rig.told.filter((line) => line.includes("paused"))).toEqual([]);
  });

  it("for which there is no chat are skipped without a turn, count as no failure, and run when there is one", async () => {
    const rig = new ScheduleRig({
      digest: { ...DAILY, prompt: "x", deliverTo: "subscribers", owner: "ada" },
    });
    rig.find = () => ({ kind: "none" });
    await rig.runUntil("2026-11-25T12:00Z");
    expect(new Set(rig.ends("digest").map((end) => end.slice(12)))).toEqual(new Set(["skipped: no-targets"]));
    expect(rig.turns).toEqual([]);
    expect(rig.told).toEqual([]);
    expect(rig.schedules.tasks.records()).toMatchObject([{ failures: 0, isPaused: false }]);
    rig.find = () => ({ kind: "found", targets: [targetOf("c1")] });
    await rig.runUntil("2026-11-26T12:00Z");
    expect(rig.ends("digest").at(-1)).toBe("11-26T09:00 delivered");
  });

  it("tell the owner of a recovery", async () => {
    let calls = 0;
    const rig = new ScheduleRig(
      handlerOf(() => {
        calls += 1;
        if (calls < 3) throw new Error("no");
      }),
    );
    await rig.runUntil("2026-11-24T12:00Z");
    expect(rig.told).toEqual([
      "job failing job@2026-11-19T09:00:00Z",
      "job recovered job@2026-11-21T09:00:00Z",
    ]);
  });

  it("pause once, after their owner was told, wherever the process dies", async () => {
    const failing = async (killAt: number): Promise<ScheduleRig> => {
      const job = { prompt: "Write it.", owner: "ada", schedule: "every 2 hours" } as const;
      const rig = new ScheduleRig({ job });
      rig.report = () => ({ state: "failed", code: "turn-failed" });
      rig.killAt = killAt;
      await rig.runUntil("2026-11-19T12:00Z");
      return rig;
    };
    const { points } = await failing(Number.POSITIVE_INFINITY);
    for (let point = points; point > points - 20; point -= 1) {
      const rig = await failing(point);
      expect(rig.told.map((line) => line.split(" ")[1])).toEqual(["failing", "paused"]);
      expect(rig.ends("job")).toHaveLength(5);
      expect(rig.schedules.tasks.isPaused("job")).toBe(true);
    }
  });
});
