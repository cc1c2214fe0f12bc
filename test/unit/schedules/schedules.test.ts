import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import { ScheduleRig, targetOf } from "./schedule-rig.ts";

const DAILY = { schedule: "every day at 09:00" } as const;
const digest: ThinkScheduledTasks = { digest: { ...DAILY, prompt: "Write it.", deliverTo: "ada" } };

function handlerOf(handler: () => void, more: object = {}): ThinkScheduledTasks {
  return { job: { ...DAILY, ...more, handler } };
}

function textsTo({ turns }: ScheduleRig, chat: string): string[] {
  return turns
    .filter(({ conversation }) => conversation === `thread:${chat}`)
    .map(({ request }) => request.recites ?? request.prompt);
}

describe("scheduled tasks", () => {
  it("run each occurrence once, at its time", async () => {
    const rig = new ScheduleRig(digest);
    await rig.runUntil("2026-11-20T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered", "11-20T09:00 delivered"]);
    expect(textsTo(rig, "c1")).toEqual(["The digest.", "The digest."]);
    expect(rig.schedules.list({ taskId: "digest", limit: 1 })[0]?.lateMs).toBe(0);
  });

  it("run the latest missed occurrence once after an outage, and say so of the earlier ones", async () => {
    const rig = new ScheduleRig(digest);
    await rig.clock.advance(3 * 86_400_000);
    rig.restart();
    await rig.runUntil("2026-11-22T12:00Z");
    expect(rig.ends("digest")).toEqual([
      "11-19T09:00 skipped: missed",
      "11-21T09:00 delivered",
      "11-22T09:00 delivered",
    ]);
    expect(rig.schedules.list({ taskId: "digest" })[1]).toMatchObject({ lateMs: 3 * 3_600_000 });
  });

  it.each<[string, object, number, readonly string[]]>([
    ["a digest runs", {}, 20, ["11-19T09:00 delivered"]],
    [
      "as the task says",
      { ifLate: { runWithinMs: 3_600_000, otherwise: "skip" } },
      2,
      ["11-19T09:00 skipped: too-late"],
    ],
  ])("decide about lateness: %s", async (_name, more, hours, expected) => {
    const rig = new ScheduleRig({ digest: { ...DAILY, prompt: "Write it.", deliverTo: "ada", ...more } });
    await rig.clock.advance((21 + hours) * 3_600_000);
    rig.restart();
    await rig.runUntil(new Date(rig.clock.now() + 60_000).toISOString());
    expect(rig.ends("digest")).toEqual(expected);
  });

  it("wait for the end of quiet hours", async () => {
    const quietHours = { from: "22:00", to: "07:00", timezone: "Europe/Berlin" };
    const rig = new ScheduleRig({
      digest: { schedule: "every day at 23:00", prompt: "Write it.", deliverTo: "ada", quietHours },
    });
    await rig.runUntil("2026-11-19T05:59Z");
    expect(rig.ends("digest")).toEqual(["11-18T23:00 due"]);
    expect(rig.turns).toEqual([]);
    await rig.runUntil("2026-11-19T06:01Z");
    expect(rig.ends("digest")).toEqual(["11-18T23:00 delivered"]);
  });

  it("always run a late handler", async () => {
    let count = 0;
    const rig = new ScheduleRig(handlerOf(() => void (count += 1)));
    await rig.clock.advance(40 * 3_600_000);
    await rig.runUntil("2026-11-20T08:00Z");
    expect(rig.ends("job")).toEqual(["11-19T09:00 done"]);
    expect(count).toBe(1);
  });

  it("end at their last time and after their last occurrence", async () => {
    const rig = new ScheduleRig({
      until: { ...DAILY, until: "2026-11-20T09:00", prompt: "x" },
      count: { ...DAILY, count: 3, prompt: "x" },
      once: { schedule: "at 2026-11-19T10:00", prompt: "x" },
    });
    await rig.runUntil("2026-11-25T12:00Z");
    expect([rig.ends("until").length, rig.ends("count").length, rig.ends("once").length]).toEqual([2, 3, 1]);
    rig.restart();
    await rig.runUntil("2026-11-28T12:00Z");
    expect([rig.ends("until").length, rig.ends("count").length, rig.ends("once").length]).toEqual([2, 3, 1]);
  });

  it("run their last occurrence late if the bot was away then, and nothing after it", async () => {
    const until = "2026-11-20T09:00";
    const rig = new ScheduleRig({ digest: { ...DAILY, until, prompt: "Write it.", deliverTo: "ada" } });
    await rig.clock.advance(4 * 86_400_000);
    rig.restart();
    await rig.runUntil("2026-11-25T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: missed", "11-20T09:00 delivered"]);
  });

  it("never block later occurrences with a failed or a waiting one", async () => {
    const rig = new ScheduleRig(digest);
    rig.report = ({ request }) =>
      request.id.includes("11-19") ? { state: "waiting" } : { state: "failed", code: "no" };
    await rig.runUntil("2026-11-22T12:00Z");
    expect(rig.ends("digest")).toEqual([
      "11-19T09:00 waiting",
      "11-20T09:00 failed: no",
      "11-21T09:00 failed: no",
      "11-22T09:00 failed: no",
    ]);
  });

  it("are tried again as often as they say", async () => {
    let calls = 0;
    const handler = (): void => {
      calls += 1;
      if (calls < 3) throw new Error("no");
    };
    const rig = new ScheduleRig(handlerOf(handler, { retry: { maxAttempts: 3 } }));
    await rig.runUntil("2026-11-19T09:01Z");
    expect(rig.ends("job")).toEqual(["11-19T09:00 done"]);
    expect(rig.schedules.list()[0]?.attempts).toBe(3);
  });

  it("deliver to the chats that can be reached, and name the others", async () => {
    const rig = new ScheduleRig(digest);
    rig.find = () => ({ kind: "found", targets: [targetOf("c1"), targetOf("c2")] });
    rig.report = ({ request }) => {
      if (request.address === undefined) return { state: "completed", text: "The digest." };
      if (request.address.chatId === "c1") return { state: "failed", code: "chat-gone" };
      return { state: "completed", messageIds: ["7"] };
    };
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
    expect(rig.schedules.list()[0]?.deliveries).toMatchObject([
      { state: "failed", code: "chat-gone" },
      { state: "delivered", messageIds: ["7"] },
    ]);
  });

  it("say of each chat that got nothing why", async () => {
    const rig = new ScheduleRig(digest);
    rig.find = () => ({ kind: "found", targets: [targetOf("c1"), targetOf("c2")] });
    rig.report = ({ request }) => {
      if (request.address === undefined) return { state: "completed", text: "The digest." };
      if (request.address.chatId === "c1") return { state: "completed", messageIds: [] };
      return { state: "completed", messageIds: ["7"] };
    };
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.schedules.list()[0]?.deliveries).toMatchObject([
      { state: "skipped", code: "empty-answer" },
      { state: "delivered", messageIds: ["7"] },
    ]);
    rig.report = () => ({ state: "failed", code: "turn-failed" });
    await rig.runUntil("2026-11-20T12:00Z");
    expect(rig.schedules.list()[0]?.deliveries).toMatchObject([
      { state: "skipped", code: "turn-failed" },
      { state: "skipped", code: "turn-failed" },
    ]);
  });

  it("never follow text that somebody has seen with another try", async () => {
    const rig = new ScheduleRig({
      digest: { ...DAILY, prompt: "x", deliverTo: "ada", fanOut: "each", retry: { maxAttempts: 5 } },
    });
    rig.report = () => ({ state: "failed", code: "turn-failed", messageIds: ["1"] });
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 failed: turn-failed"]);
    expect(rig.turns).toHaveLength(1);
  });
});

describe("reconciliation", () => {
  it("keeps the next occurrence of a task whose schedule is the same", async () => {
    const rig = new ScheduleRig({ job: { schedule: "every 2 hours", handler: () => undefined } });
    await rig.clock.advance(60 * 60_000);
    rig.tasks = { job: { schedule: "every 2 hours", handler: () => undefined, retry: { maxAttempts: 2 } } };
    rig.restart();
    await rig.runUntil("2026-11-18T16:30Z");
    expect(rig.ends("job")).toEqual(["11-18T14:00 done", "11-18T16:00 done"]);
  });

  it("computes a changed schedule again from now, and forgets removed tasks", async () => {
    const rig = new ScheduleRig({ ...digest, job: { schedule: "every 2 hours", handler: () => undefined } });
    rig.tasks = { job: { schedule: "every day at 13:00", handler: () => undefined } };
    rig.restart();
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.ends("job")).toEqual(["11-18T13:00 done"]);
    expect(rig.ends("digest")).toEqual([]);
    expect(rig.schedules.runNow("digest")).toBeUndefined();
  });

  it("stores nothing of a wrong declaration, and does nothing until it is right", async () => {
    const rig = new ScheduleRig(digest);
    rig.tasks = { ...digest, wrong: { schedule: "every day at 9" as "every day at 09:00", prompt: "x" } };
    expect(() => rig.schedules.tasks.reconcile()).toThrow(/"wrong"/);
    expect(rig.schedules.nextWakeAt()).toBeUndefined();
    rig.tasks = digest;
    rig.restart();
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
  });
});

describe("the budget of a task", () => {
  const hourly = (more: object): ThinkScheduledTasks => ({
    digest: { schedule: "every 1 hour", prompt: "Write it.", deliverTo: "ada", ...more },
  });
  const spend = async (more: object): Promise<ScheduleRig> => {
    const rig = new ScheduleRig(hourly(more));
    rig.report = ({ request }) =>
      request.address === undefined
        ? { state: "completed", text: "The digest.", usage: { input: 600, output: 100, cost: 0.4 } }
        : { state: "completed", messageIds: [`m-${request.id}`] };
    await rig.runUntil("2026-11-18T17:30Z");
    return rig;
  };

  it.each([
    ["cost-limit", { mostCostPerDay: 1 }],
    ["token-limit", { mostTokensPerDay: 2000 }],
  ])("skips it beyond its %s of 24 hours, and tells the owner once", async (code, more) => {
    const rig = await spend(more);
    expect(rig.ends("digest").map((end) => end.slice(12))).toEqual([
      "delivered",
      "delivered",
      "delivered",
      `skipped: ${code}`,
      `skipped: ${code}`,
    ]);
    expect(rig.told).toEqual(["digest limited digest@2026-11-18T16:00:00Z"]);
    await rig.runUntil("2026-11-19T14:30Z");
    expect(rig.ends("digest").at(-1)).toBe("11-19T14:00 delivered");
  });

  it("counts tries that have failed", async () => {
    const rig = new ScheduleRig(hourly({ mostTokensPerDay: 2000, retry: { maxAttempts: 3 } }));
    rig.report = ({ request }) =>
      request.id.endsWith("#3.0")
        ? { state: "completed", text: "The digest.", usage: { input: 600, output: 100, cost: 0.4 } }
        : request.address === undefined
          ? { state: "failed", code: "model-timeout", usage: { input: 600, output: 0, cost: 0.3 } }
          : { state: "completed", messageIds: ["7"] };
    await rig.runUntil("2026-11-18T14:30Z");
    expect(rig.ends("digest").map((end) => end.slice(12))).toEqual(["delivered", "skipped: token-limit"]);
    rig.restart();
    const first = rig.schedules.list()[1];
    expect(first?.usage).toEqual({ input: 1800, output: 100, cost: 1 });
  });

  it("is part of the occurrence, with its money", async () => {
    const [occurrence] = (await spend({})).schedules.list({ limit: 1 });
    expect(occurrence?.usage).toEqual({ input: 600, output: 100, cost: 0.4 });
  });
});

describe("the quiet hours of a chat", () => {
  const HOUR_MS = 3_600_000;
  const play = async (killAt = Number.POSITIVE_INFINITY): Promise<ScheduleRig> => {
    const rig = new ScheduleRig({
      digest: { schedule: "at 2026-11-19T09:00Z", prompt: "Write it.", deliverTo: ["c1", "tokyo"] },
    });
    rig.find = () => ({ kind: "found", targets: [targetOf("c1"), targetOf("tokyo")] });
    // It is 18:00 in Tokyo.
    rig.quiet = { tokyo: { from: 18 * HOUR_MS, to: 20 * HOUR_MS, zone: "Asia/Tokyo" } };
    rig.killAt = killAt;
    await rig.runUntil("2026-11-19T10:59Z");
    return rig;
  };

  it("hold back its digest and nobody else's, until they end in the chat's zone", async () => {
    const rig = await play();
    expect([textsTo(rig, "c1"), textsTo(rig, "tokyo")]).toEqual([["The digest."], []]);
    await rig.runUntil("2026-11-19T11:01Z");
    expect(textsTo(rig, "tokyo")).toEqual(["The digest."]);
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
  });

  it("neither lose nor double it, whenever the process dies", async () => {
    const first = new ScheduleRig(digest).points + 1;
    for (const point of (await play()).deaths) {
      if (point < first) continue;
      const rig = await play(point);
      await rig.runUntil("2026-11-19T12:00Z");
      expect(rig.kills).toBe(1);
      expect([textsTo(rig, "c1"), textsTo(rig, "tokyo")]).toEqual([["The digest."], ["The digest."]]);
    }
  });
});

describe("a crash at any point", () => {
  const play = async (killAt: readonly number[]): Promise<ScheduleRig> => {
    const rig = new ScheduleRig(digest);
    rig.find = () => ({ kind: "found", targets: [targetOf("c1"), targetOf("c2")] });
    let [next, ...rest] = killAt;
    rig.killAt = next ?? Number.POSITIVE_INFINITY;
    for (let at = Date.parse("2026-11-19T08:59Z"); at < Date.parse("2026-11-20T12:00Z"); at += 3_600_000) {
      await rig.runUntil(new Date(at).toISOString());
      if (rig.points >= rig.killAt && rest.length > 0) {
        [next = Number.POSITIVE_INFINITY, ...rest] = rest;
        rig.killAt = rig.points + next;
      }
    }
    return rig;
  };

  const check = (rig: ScheduleRig): void => {
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered", "11-20T09:00 delivered"]);
    expect(textsTo(rig, "c1")).toEqual(["The digest.", "The digest."]);
    expect(textsTo(rig, "c2")).toEqual(["The digest.", "The digest."]);
    expect(rig.turns.filter(({ conversation }) => conversation === "task:digest")).toHaveLength(2);
  };

  it("neither loses an occurrence nor doubles one", async () => {
    const { deaths, points } = await play([]);
    const first = new ScheduleRig(digest).points + 1;
    expect(points - first).toBeGreaterThan(30);
    for (const point of deaths) {
      if (point < first) continue;
      const rig = await play([point]);
      expect(rig.kills).toBe(1);
      check(rig);
    }
  });

  it("nor do several crashes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 5 }),
        async (killAt) => check(await play(killAt)),
      ),
      { numRuns: 30 },
    );
  });

  it("begins a delivery to many chats once", async () => {
    const playMany = async (killAt: number, fanOut: "once" | "each"): Promise<ScheduleRig> => {
      const rig = new ScheduleRig({
        digest: { ...DAILY, prompt: "Write it.", deliverTo: "subscribers", fanOut },
      });
      rig.find = () => ({ kind: "many" });
      rig.killAt = killAt;
      await rig.runUntil("2026-11-19T12:00Z");
      return rig;
    };
    for (const fanOut of ["once", "each"] as const) {
      const first = new ScheduleRig(digest).points + 1;
      for (const point of (await playMany(Number.POSITIVE_INFINITY, fanOut)).deaths) {
        if (point < first) continue;
        const rig = await playMany(point, fanOut);
        expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
        expect(rig.broadcasts.map(({ work }) => work.kind)).toEqual([
          fanOut === "once" ? "content" : "prompt",
        ]);
        expect(rig.turns).toHaveLength(fanOut === "once" ? 2 : 1);
      }
    }
  });

  it("tells the owner once", async () => {
    const failing = async (killAt: number): Promise<ScheduleRig> => {
      const rig = new ScheduleRig(
        handlerOf(() => {
          throw new Error("no");
        }),
      );
      rig.killAt = killAt;
      await rig.runUntil("2026-11-20T12:00Z");
      return rig;
    };
    const first = new ScheduleRig(digest).points + 1;
    for (const point of (await failing(Number.POSITIVE_INFINITY)).deaths) {
      if (point < first) continue;
      const rig = await failing(point);
      expect(rig.told).toEqual(["job failing job@2026-11-19T09:00:00Z"]);
      expect(rig.ends("job")).toEqual([
        "11-19T09:00 failed: handler-failed",
        "11-20T09:00 failed: handler-failed",
      ]);
    }
  });

  it("delivers once after people have decided", async () => {
    const waiting = async (killAt: number): Promise<ScheduleRig> => {
      const rig = new ScheduleRig(digest);
      rig.report = ({ conversation, request }) => {
        if (conversation !== "task:digest") return { state: "completed", messageIds: [`m-${request.id}`] };
        const isDecided = rig.clock.now() >= Date.parse("2026-11-19T09:40Z");
        return isDecided
          ? { state: "completed", text: "The digest.", code: "rejected" }
          : { state: "waiting" };
      };
      rig.killAt = killAt;
      await rig.runUntil("2026-11-19T12:00Z");
      return rig;
    };
    const whole = await waiting(Number.POSITIVE_INFINITY);
    expect(whole.ends("digest")).toEqual(["11-19T09:00 delivered: rejected"]);
    const first = new ScheduleRig(digest).points + 1;
    for (const point of whole.deaths) {
      if (point < first) continue;
      const rig = await waiting(point);
      expect(rig.kills).toBe(1);
      expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered: rejected"]);
      expect(textsTo(rig, "c1")).toEqual(["The digest."]);
      expect(rig.turns).toHaveLength(2);
    }
  });
});

describe("an occurrence that waits for people", () => {
  /** A task object whose question is open for days, and that cannot be reached for a while after that. */
  const wait = async (awayMs: number): Promise<ScheduleRig> => {
    const rig = new ScheduleRig({ digest: { ...digest["digest"], until: "2026-11-19T10:00Z" } as never });
    const awayFrom = Date.parse("2026-11-22T15:00Z");
    rig.report = ({ conversation, request }) => {
      if (conversation !== "task:digest") return { state: "completed", messageIds: [`m-${request.id}`] };
      const now = rig.clock.now();
      if (now >= awayFrom && now < awayFrom + awayMs) throw new Error("away");
      return now < awayFrom ? { state: "waiting" } : { state: "completed", text: "The digest." };
    };
    await rig.runUntil("2026-11-25T12:00Z");
    return rig;
  };

  it("is not given up for one failed look after days", async () => {
    expect((await wait(3_600_000)).ends("digest")).toEqual(["11-19T09:00 delivered"]);
  });

  it("is given up after a day without any answer", async () => {
    expect((await wait(30 * 3_600_000)).ends("digest")[0]).toMatch(/failed/);
  });

  it("goes on at once when it is told of the decision", async () => {
    const rig = new ScheduleRig(digest);
    let isDecided = false;
    rig.report = ({ conversation, request }) => {
      if (conversation !== "task:digest") return { state: "completed", messageIds: [`m-${request.id}`] };
      return isDecided ? { state: "completed", text: "The digest." } : { state: "waiting" };
    };
    await rig.runUntil("2026-11-19T20:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 waiting"]);
    isDecided = true;
    await rig.runUntil("2026-11-19T20:00:01Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 waiting"]);
    rig.schedules.nudge("digest@2026-11-19T09:00:00Z");
    await rig.runUntil("2026-11-19T20:00:05Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 delivered"]);
  });

  it("is skipped if a later one asks instead", async () => {
    const rig = new ScheduleRig(digest);
    rig.report = () => ({ state: "skipped", code: "replaced" });
    await rig.runUntil("2026-11-19T12:00Z");
    expect(rig.ends("digest")).toEqual(["11-19T09:00 skipped: replaced"]);
    expect(rig.told).toEqual([]);
  });
});
