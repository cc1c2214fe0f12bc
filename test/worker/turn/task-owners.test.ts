import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { broken, digest, MONTHLY, start, to, untilEnded } from "../support/scheduled-world.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

describe("the owner of a task", () => {
  it("is told of the first failure once, of the pause with a card, and of the recovery once", async () => {
    const job = { ...MONTHLY, prompt: "Write it.", owner: to("c1") };
    const world = await start({ job });
    world.script(broken);
    for (let count = 1; count <= 5; count += 1) {
      await world.stub.schedules.run("job");
      await untilEnded(world, "job", count);
    }
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(3), 8000);
    expect(world.chats.visible("c1").slice(1)).toEqual([
      expect.stringContaining("The scheduled task job failed (due "),
      expect.stringContaining("The scheduled task job failed five times in a row, so I've paused it"),
    ]);
    world.script(digest);
    expect(await world.press("c1", "Run now")).toBe("It goes on.");
    await untilEnded(world, "job", 6);
    await vi.waitFor(() => expect(world.chats.visible("c1").at(-1)).toContain("goes on, and runs now"), 8000);
    expect(world.chats.visible("c1")).toHaveLength(3);
  });

  it("is told that a handler fails, which never pauses: /health warns until it works", async () => {
    let isBroken = true;
    const handler = (): void => {
      if (isBroken) throw new Error("no");
    };
    const world = await start({ job: { ...MONTHLY, handler, owner: to("c1") } });
    const warnings = (): Promise<unknown> =>
      runInDurableObject(world.stub, (bot) => bot.inner("healthWarnings", []));
    for (let count = 1; count <= 6; count += 1) {
      await world.stub.schedules.run("job");
      await untilEnded(world, "job", count);
    }
    expect(await world.stub.schedules.list()).toMatchObject([{ failures: 6, isPaused: false }]);
    expect(await warnings()).toMatchObject([
      { code: "scheduled-task-failing", message: expect.stringContaining("6 times in a row") as string },
    ]);
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(2), 8000);
    isBroken = false;
    await world.stub.schedules.run("job");
    await untilEnded(world, "job", 7);
    expect(await warnings()).toEqual([]);
    await vi.waitFor(() => expect(world.chats.visible("c1").at(-1)).toContain("works again"), 8000);
  });

  it("of a conversation that fails is named by the /health of the bot until it works", async () => {
    let isBroken = true;
    const handler = (): void => {
      if (isBroken) throw new Error("no");
    };
    const world = await start({ checkIn: { ...MONTHLY, scope: "conversation", handler } });
    const warnings = (): Promise<unknown> =>
      runInDurableObject(world.stub, (bot) => bot.inner("healthWarnings", []));
    const run = async (count: number): Promise<void> => {
      await world.thread("c1").schedules.run("checkIn");
      await vi.waitFor(async () => {
        const ended = await world.thread("c1").schedules.occurrences({ taskId: "checkIn" });
        expect(ended.filter(({ endedAt }) => endedAt !== undefined)).toHaveLength(count);
      }, 8000);
    };
    for (let count = 1; count <= 5; count += 1) {
      expect(await warnings()).toEqual([]);
      await run(count);
    }
    const message = expect.stringMatching(
      /"checkIn" failed .* in one conversation, .* handler-failed/,
    ) as string;
    expect(await warnings()).toEqual([{ code: "scheduled-task-failing", message }]);
    isBroken = false;
    await run(6);
    // The log tells of it when it is durable.
    await vi.waitFor(async () => expect(await warnings()).toEqual([]), 8000);
  });

  const group = { isGroup: true, mentions: true } as const;

  it("reads the cards in the language of their private chat, and gets answers in it", async () => {
    const texts = {
      taskFailed: { en: "{task} failed.", de: "{task} hat nicht geklappt." },
      taskPaused: { en: "{task} is paused.", de: "{task} macht Pause." },
      taskResumeButton: { en: "Resume", de: "Fortsetzen" },
      taskResumed: { en: "{task} goes on, says {name}.", de: "{task} läuft wieder, sagt {name}." },
      scheduleResumed: { en: "It goes on.", de: "Läuft wieder." },
    };
    const world = createWorld({
      settings: { texts },
      scheduledTasks: () => ({ job: { ...MONTHLY, prompt: "Write it.", owner: to("c1") } }),
    });
    await world.write("c1", "Hallo", { language: "de" });
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(1), 8000);
    world.script(broken);
    for (let count = 1; count <= 5; count += 1) {
      await world.stub.schedules.run("job");
      await untilEnded(world, "job", count);
    }
    await vi.waitFor(
      () =>
        expect(world.chats.visible("c1").slice(1)).toEqual(["job hat nicht geklappt.", "job macht Pause."]),
      8000,
    );
    expect(await world.press("c1", "Fortsetzen", { language: "de" })).toBe("Läuft wieder.");
    await vi.waitFor(
      () => expect(world.chats.visible("c1").at(-1)).toMatch(/^job läuft wieder, sagt /),
      8000,
    );
  });

  it("is a group: only the people whom the task names may press, and others are refused privately", async () => {
    const task = { ...MONTHLY, prompt: "Write it.", owner: to("g1"), managers: ["boss", 7] };
    const world = createWorld({ scheduledTasks: () => ({ job: task }) });
    await world.write("g1", "Hello", group);
    await vi.waitFor(() => expect(world.chats.visible("g1")).toHaveLength(1), 8000);
    world.script(broken);
    for (let count = 1; count <= 5; count += 1) {
      await world.stub.schedules.run("job");
      await untilEnded(world, "job", count);
    }
    await vi.waitFor(() => expect(world.chats.button("g1", "Resume")).toBeDefined(), 8000);
    const before = world.chats.visible("g1");
    expect(await world.press("g1", "Resume", { ...group, user: "eve" })).toBe(
      "Only people whom this bot's team has chosen can change this task.",
    );
    expect(await world.stub.schedules.list()).toMatchObject([{ isPaused: true }]);
    expect(world.chats.visible("g1")).toEqual(before);
    expect(await world.press("g1", "Resume", { ...group, user: "boss" })).toBe("It goes on.");
    expect(await world.stub.schedules.list()).toMatchObject([{ isPaused: false }]);
  });

  it("is a group for which the task names nobody: its card has no buttons", async () => {
    const world = createWorld({
      scheduledTasks: () => ({ job: { ...MONTHLY, prompt: "Write it.", owner: to("g1") } }),
    });
    await world.write("g1", "Hello", group);
    await vi.waitFor(() => expect(world.chats.visible("g1")).toHaveLength(1), 8000);
    world.script(broken);
    for (let count = 1; count <= 5; count += 1) {
      await world.stub.schedules.run("job");
      await untilEnded(world, "job", count);
    }
    await vi.waitFor(
      () =>
        expect(world.chats.visible("g1").at(-1)).toMatch(
          /so I've paused it.*Its developers can resume it with schedules\.resume\.$/,
        ),
      8000,
    );
    expect(world.chats.button("g1", "Resume")).toBeUndefined();
  });
});
