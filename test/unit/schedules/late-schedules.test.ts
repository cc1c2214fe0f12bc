import { describe, expect, it } from "vitest";
import { taskOf } from "../../../src/schedules/rules/chat-schedule.ts";
import type { CheckedTask } from "../../../src/schedules/rules/check-tasks.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

describe("a schedule that a person has made", () => {
  const made = (kind: "digest" | "reminder", schedule: string): CheckedTask => {
    const { address } = targetOf("c1");
    const known = { id: "#1", kind, text: "Sum up", schedule, timezone: "UTC", address, createdAt: 0 };
    const task = taskOf({ ...known, madeBy: { userId: "ada" } }, {});
    if (task === undefined) throw new Error(`"${schedule}" is not a schedule`);
    return task;
  };
  const away = async (rig: ScheduleRig, hours: number): Promise<void> => {
    await rig.clock.advance(hours * 3_600_000);
    rig.restart();
  };

  it("says once that its occurrence was skipped as too late, however many there were", async () => {
    const rig = new ScheduleRig({
      declared: { schedule: "every day at 09:00", prompt: "Write it.", deliverTo: "ada" },
    });
    rig.made = [made("digest", "every day at 09:00")];
    rig.restart();
    await away(rig, 3 * 24 - 3 + 13);
    await rig.runUntil("2026-11-22T08:00Z");
    expect(rig.ends("#1")).toEqual(["11-19T09:00 skipped: missed", "11-21T09:00 skipped: too-late"]);
    expect(rig.told).toEqual(["#1 too-late #1@2026-11-21T09:00:00Z"]);
    await rig.runUntil("2026-11-22T12:00Z");
    await away(rig, 35);
    await rig.runUntil("2026-11-24T08:00Z");
    expect(rig.told.slice(1), "the next absence").toEqual(["#1 too-late #1@2026-11-23T09:00:00Z"]);
  });

  it("says so after the quiet hours of its chat", async () => {
    const rig = new ScheduleRig({});
    rig.made = [made("digest", "every day at 09:00")];
    rig.ownerQuietUntil = Date.parse("2026-11-20T07:00Z");
    rig.restart();
    await away(rig, 21 + 13);
    await rig.runUntil("2026-11-20T06:59Z");
    expect(rig.told).toEqual([]);
    await rig.runUntil("2026-11-20T07:01Z");
    expect(rig.told).toEqual(["#1 too-late #1@2026-11-19T09:00:00Z"]);
  });

  it("says nothing of it once somebody has deleted it, and its row stays true", async () => {
    const rig = new ScheduleRig({});
    rig.made = [made("digest", "every day at 09:00")];
    rig.ownerQuietUntil = Date.parse("2026-11-20T07:00Z");
    rig.restart();
    await away(rig, 21 + 13);
    await rig.runUntil("2026-11-20T06:00Z");
    rig.made = [];
    rig.restart();
    await rig.runUntil("2026-11-20T08:00Z");
    expect(rig.ends("#1")).toEqual(["11-19T09:00 skipped: too-late"]);
    expect(rig.told).toEqual([]);
  });

  it("says so once if the process is killed anywhere", async () => {
    for (let killAt = 1, isKilled = true; isKilled; killAt += 1) {
      const rig = new ScheduleRig({});
      rig.made = [made("digest", "every day at 09:00")];
      rig.restart();
      rig.points = 0;
      await away(rig, 21 + 13);
      rig.killAt = killAt;
      await rig.runUntil("2026-11-20T08:00Z");
      isKilled = rig.kills > 0;
      expect(rig.told, `killed at ${killAt}`).toEqual(["#1 too-late #1@2026-11-19T09:00:00Z"]);
    }
  });

  it.each(["digest", "reminder"] as const)(
    "comes again once its chat can be reached again: %s",
    async (kind) => {
      const rig = new ScheduleRig({});
      rig.made = [made(kind, "every day at 09:00")];
      rig.restart();
      rig.find = () => ({ kind: "refused", code: "chat-gone" });
      rig.card = { state: "failed", code: "bot-blocked", isGone: true };
      await rig.runUntil("2026-11-25T12:00Z");
      expect(rig.schedules.tasks.isPaused("#1"), "nobody could read that").toBe(false);
      rig.find = () => ({ kind: "found", targets: [targetOf("c1")] });
      rig.card = undefined;
      await rig.runUntil("2026-11-26T12:00Z");
      expect(rig.ends("#1").at(-1)).toBe("11-26T09:00 delivered");
      expect(rig.told).toEqual([]);
    },
  );

  it("reminds late rather than never", async () => {
    const rig = new ScheduleRig({});
    rig.made = [made("reminder", "at 2026-11-19T09:00")];
    rig.restart();
    await away(rig, 21 + 60);
    await rig.runUntil("2026-11-22T00:00Z");
    expect(rig.ends("#1")).toEqual(["11-19T09:00 delivered"]);
    expect(rig.schedules.list()[0]?.lateMs).toBe(60 * 3_600_000);
    expect(rig.told).toEqual([]);
  });
});
