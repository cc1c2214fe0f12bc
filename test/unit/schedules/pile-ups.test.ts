import { describe, expect, it } from "vitest";
import { taskOf } from "../../../src/schedules/rules/chat-schedule.ts";
import type { CheckedTask } from "../../../src/schedules/rules/check-tasks.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

const HOUR_MS = 3_600_000;

function questions({ turns }: ScheduleRig): number {
  return turns.filter(({ request }) => request.recites === undefined).length;
}

describe("occurrences that could come all at once", () => {
  it("are one after the quiet hours of their task, and the earlier ones say so", async () => {
    const quietHours = { from: "22:00", to: "07:00", timezone: "UTC" };
    const rig = new ScheduleRig(
      { digest: { schedule: "cron 0 * * * *", prompt: "Write it.", deliverTo: "ada", quietHours, count: 3 } },
      "2026-11-18T21:30Z",
    );
    await rig.runUntil("2026-11-19T07:10Z");
    expect(questions(rig)).toBe(1);
    expect(rig.ends("digest").filter((end) => end.includes("skipped"))).toHaveLength(9);
    expect(rig.ends("digest").slice(-2)).toEqual(["11-19T06:00 skipped: missed", "11-19T07:00 delivered"]);
    await rig.runUntil("2026-11-19T12:10Z");
    expect(questions(rig), "those that were missed do not count").toBe(3);
  });

  it("are one after the quiet hours of a chat whose conversation has not run any of them", async () => {
    const rig = new ScheduleRig(
      { digest: { schedule: "cron 0 * * * *", prompt: "Write it.", deliverTo: "ada", fanOut: "each" } },
      "2026-11-18T21:30Z",
    );
    rig.find = () => ({ kind: "found", targets: [targetOf("c1"), targetOf("quiet")] });
    rig.quiet = { quiet: { from: 22 * HOUR_MS, to: 7 * HOUR_MS, zone: "UTC" } };
    await rig.runUntil("2026-11-19T06:50Z");
    expect(rig.ends("digest").slice(-2)).toEqual(["11-19T05:00 delivered", "11-19T06:00 running"]);
    await rig.runUntil("2026-11-19T07:30Z");
    const to = (chat: string): number =>
      rig.turns.filter(({ conversation }) => conversation === `thread:${chat}`).length;
    expect([to("c1"), to("quiet")]).toEqual([10, 2]);
    expect(rig.schedules.list({ limit: 3 }).map(({ deliveries }) => deliveries[1])).toMatchObject([
      { state: "delivered" },
      { state: "delivered" },
      { state: "skipped", code: "missed" },
    ]);
  });

  it("are all of the texts that were written while a chat had quiet hours", async () => {
    const rig = new ScheduleRig(
      { digest: { schedule: "cron 0 * * * *", prompt: "Write it.", deliverTo: "ada" } },
      "2026-11-19T04:30Z",
    );
    rig.quiet = { c1: { from: 22 * HOUR_MS, to: 7 * HOUR_MS, zone: "UTC" } };
    await rig.runUntil("2026-11-19T07:30Z");
    expect(rig.turns.filter(({ request }) => request.recites !== undefined)).toHaveLength(3);
  });

  it("are one after an outage that began while one of them was waiting", async () => {
    const rig = new ScheduleRig({
      digest: {
        schedule: "every day at 09:00",
        prompt: "Write it.",
        deliverTo: "ada",
        retry: { maxAttempts: 3 },
      },
    });
    rig.report = () => ({ state: "failed", code: "no" });
    await rig.runUntil("2026-11-19T09:00:01Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 due: no"]);
    await rig.clock.advance(2 * 24 * HOUR_MS + HOUR_MS);
    rig.restart();
    rig.report = ({ request }) =>
      request.address === undefined
        ? { state: "completed", text: "It." }
        : { state: "completed", messageIds: ["1"] };
    await rig.runUntil("2026-11-21T12:00Z");
    expect(rig.ends("digest")).toEqual([
      "11-19T09:00 skipped: missed",
      "11-20T09:00 skipped: missed",
      "11-21T09:00 delivered",
    ]);
  });

  it("are none if the one that waited is too late, and its person reads so", async () => {
    const { address } = targetOf("c1");
    const made = taskOf(
      {
        id: "#1",
        kind: "digest",
        text: "Sum up",
        schedule: "at 2026-11-19T09:00",
        timezone: "UTC",
        address,
        createdAt: 0,
        madeBy: { userId: "ada" },
      },
      {},
    ) as CheckedTask;
    const rig = new ScheduleRig({});
    rig.made = [made];
    rig.restart();
    rig.report = () => ({ state: "failed", code: "no" });
    await rig.runUntil("2026-11-19T09:00:01Z");
    expect(rig.ends("#1")).toEqual(["11-19T09:00 due: no"]);
    await rig.clock.advance(20 * HOUR_MS);
    rig.restart();
    await rig.runUntil("2026-11-20T12:00Z");
    expect(rig.ends("#1")).toEqual(["11-19T09:00 skipped: too-late"]);
    expect(rig.told).toEqual(["#1 too-late #1@2026-11-19T09:00:00Z"]);
    expect(questions(rig)).toBe(1);
  });

  it("all run if each of them may start late at random", async () => {
    const rig = new ScheduleRig({
      digest: { schedule: "cron */15 * * * *", prompt: "Write it.", deliverTo: "ada", jitterMs: 30 * 60_000 },
    });
    rig.random = () => 0.99;
    await rig.runUntil("2026-11-18T14:00Z");
    expect(rig.ends("digest").slice(0, 3)).toEqual([
      "11-18T12:15 delivered",
      "11-18T12:30 delivered",
      "11-18T12:45 delivered",
    ]);
  });
});
