import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ScheduledOccurrence, ThinkScheduledTasks } from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { digest, MONTHLY, start, to, untilEnded } from "../support/scheduled-world.ts";
import { failWith, holdAt, say, textOf } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

function soon(ms = 100): `at ${number}-${string}` {
  return `at ${new Date(Date.now() + ms).toISOString()}` as `at ${number}-${string}`;
}

async function kill(world: World, child?: string): Promise<void> {
  const stub = child === undefined ? world.stub : world.child(child);
  await runInDurableObject(stub, (_bot, state) => state.abort("killed by a test")).catch(() => undefined);
}

describe("a scheduled prompt", () => {
  it("runs in an object of its own when it is due, and is delivered once with a receipt", async () => {
    const tasks: Record<string, ThinkScheduledTasks[string]> = {};
    const world = await start(tasks);
    tasks["digest"] = { schedule: soon(), prompt: "Write it.", deliverTo: to("c1") };
    await world.stub.internal_reconcileScheduledTasks();
    world.script(digest);
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence).toMatchObject({
      taskId: "digest",
      state: "delivered",
      attempts: 1,
      deliveries: [{ state: "delivered", messageIds: [expect.any(String) as string] }],
    });
    expect(world.chats.visible("c1")).toEqual(["You said: Hello from c1", "The digest."]);
    expect(world.requests.map(({ asker }) => asker.slice(world.root.length)).slice(1)).toEqual([
      "/task:digest",
    ]);
    expect(world.requests[1]?.said).toMatch(/^⟦Scheduled task "digest", due .*⟧\nWrite it\.$/);
  });

  it("is part of the memory of each of its chats, so that a reply to it is understood", async () => {
    const world = await start(
      { digest: { ...MONTHLY, prompt: "Write it.", deliverTo: [to("c1"), to("c2")] } },
      {},
      ["c1", "c2"],
    );
    world.script(digest);
    await world.stub.schedules.run("digest");
    await untilEnded(world, "digest");
    world.script(({ prompt }) => [
      say(prompt.map(textOf).some((text) => text.includes("The digest.")) ? "You mean the digest." : "What?"),
    ]);
    await world.write("c2", "Tell me more about the second point");
    await vi.waitFor(() => expect(world.chats.visible("c2").at(-1)).toBe("You mean the digest."), 8000);
  });

  it("is understood also if the bot's own code has posted much since", async () => {
    const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("c1") } });
    world.script(digest);
    await world.stub.schedules.run("digest");
    await untilEnded(world, "digest");
    for (let post = 1; post <= 12; post += 1)
      await world.stub.broadcasts.send(`Post ${post}`, to("c1"), { idempotencyKey: `post-${post}` });
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(14), 8000);
    world.script(({ prompt }) => {
      const known = ["The digest.", "Post 12", "Post 1\n"].map((text) =>
        prompt.some((one) => textOf(one).includes(text)),
      );
      return [say(known.join(", "))];
    });
    await world.write("c1", "Tell me more about the second point");
    await vi.waitFor(() => expect(world.chats.visible("c1").at(-1)).toBe("true, true, false"), 8000);
  });

  it("passes through its messenger's filter for the texts of models", async () => {
    const world = await start(
      { digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("c1") } },
      { messenger: { delivery: { footer: "Ask me for more." } } },
    );
    world.script(() => [say("<think>Which one?</think>The digest.")]);
    await world.stub.schedules.run("digest");
    expect(await untilEnded(world, "digest")).toMatchObject([{ state: "delivered" }]);
    expect(world.chats.visible("c1").at(-1)).toBe("The digest.\n\nAsk me for more.");
    world.script(() => [say("<think>Nothing to say.</think>")]);
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest", 2);
    expect(occurrence).toMatchObject({ state: "skipped", code: "empty-answer" });
    expect(world.chats.visible("c1")).toHaveLength(2);
  });

  it("runs in the conversation of each target with fanOut each, with its own memory", async () => {
    const world = await start(
      {
        digest: { ...MONTHLY, prompt: "What did they say?", deliverTo: [to("c1"), to("c2")], fanOut: "each" },
      },
      {},
      ["c1", "c2"],
    );
    world.script(({ prompt }) => [say(`They said: ${textOf(prompt[1])}`)]);
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence?.deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
    expect(world.chats.visible("c1").at(-1)).toBe("They said: Hello from c1");
    expect(world.chats.visible("c2").at(-1)).toBe("They said: Hello from c2");
  });

  it("waits while a turn runs in its chat, and never cuts into it", async () => {
    const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("c1") } });
    const gate = createGate();
    world.script(({ asker }) =>
      asker.includes("task:") ? [say("The digest.")] : [say("A long "), holdAt(gate), say("answer.")],
    );
    await world.write("c1", "Tell me a story");
    await untilReached(gate);
    await world.stub.schedules.run("digest");
    await vi.waitFor(async () => {
      const waiting = await world.thread("c1").deliveries.list({ state: "final" });
      expect(waiting).toMatchObject([{ replyId: expect.stringContaining("schedule:digest") as string }]);
    }, 8000);
    gate.open();
    await untilEnded(world, "digest");
    expect(world.chats.visible("c1").slice(1)).toEqual(["A long answer.", "The digest."]);
  });

  it("runs again after a failed turn, and shows one answer and no error", async () => {
    const world = await start({
      digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("c1"), retry: { maxAttempts: 2 } },
    });
    let calls = 0;
    world.script(() => ((calls += 1) <= 2 ? [failWith(new Error("no"))] : [say("The digest.")]));
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence).toMatchObject({ state: "delivered", attempts: 2 });
    expect(world.chats.visible("c1").slice(1)).toEqual(["The digest."]);
  });

  it("asks no model and sends nothing if its source has nothing new", async () => {
    let data: unknown = ["one"];
    const world = await start({
      digest: { ...MONTHLY, prompt: "Sum up.", deliverTo: to("c1"), source: () => data },
    });
    world.script(digest);
    await world.stub.schedules.run("digest");
    await untilEnded(world, "digest");
    expect(world.requests[1]?.said).toContain('["one"]');
    await world.stub.schedules.run("digest");
    await untilEnded(world, "digest", 2);
    data = [];
    await world.stub.schedules.run("digest");
    const found = await untilEnded(world, "digest", 3);
    expect(found.map(({ code, state }) => [state, code])).toEqual([
      ["no-change", "nothing"],
      ["no-change", "same-data"],
      ["delivered", undefined],
    ]);
    expect(world.requests).toHaveLength(2);
    expect(world.chats.visible("c1")).toHaveLength(2);
  });

  it("waits for the end of a chat's quiet hours, and of no other one's", async () => {
    const soonMinutes = new Date(Date.now() + 7_200_000).toISOString().slice(11, 16);
    const before = new Date(Date.now() - 3_600_000).toISOString().slice(11, 16);
    const world = await start(
      { digest: { ...MONTHLY, prompt: "Write it.", deliverTo: [to("c1"), to("c2")] } },
      {
        settings: {
          quietHoursOf: ({ chatId }) =>
            chatId === "c2" ? { from: before, to: soonMinutes, timezone: "UTC" } : undefined,
        },
      },
      ["c1", "c2"],
    );
    world.script(digest);
    await world.stub.schedules.run("digest");
    await vi.waitFor(() => expect(world.chats.visible("c1")).toHaveLength(2), 8000);
    await vi.waitFor(
      async () =>
        expect(await world.stub.schedules.occurrences()).toMatchObject([
          { state: "running", deliveries: [{ state: "delivered" }, { state: "pending" }] },
        ]),
      8000,
    );
    expect(world.chats.visible("c2")).toHaveLength(1);
  });

  it("chooses its chats by a function over the directory", async () => {
    const world = await start(
      {
        digest: {
          ...MONTHLY,
          prompt: "Write it.",
          deliverTo: (chats) => chats.filter(({ chatId }) => chatId !== "c2").map(({ chatId }) => to(chatId)),
        },
      },
      {},
      ["c1", "c2", "c3"],
    );
    world.script(digest);
    await world.stub.schedules.run("digest");
    await untilEnded(world, "digest");
    expect(["c1", "c2", "c3"].map((chat) => world.chats.visible(chat).length)).toEqual([2, 1, 2]);
  });

  it("goes to the chats that have subscribed, and is part of their memory", async () => {
    const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo: "subscribers" } }, {}, [
      "c1",
      "c2",
    ]);
    await world.stub.broadcasts.subscribe(to("c2"));
    world.script(digest);
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence).toMatchObject({ state: "delivered", broadcastId: expect.any(String) as string });
    expect(world.chats.visible("c1")).toHaveLength(1);
    expect(world.chats.visible("c2").at(-1)).toBe("The digest.");
    world.script(({ prompt }) => [
      say(prompt.map(textOf).some((text) => text.includes("The digest.")) ? "You mean the digest." : "What?"),
    ]);
    await world.write("c2", "Tell me more");
    await vi.waitFor(() => expect(world.chats.visible("c2").at(-1)).toBe("You mean the digest."), 8000);
  });

  it("without subscribers is skipped without a call of the model, and comes when somebody has subscribed", async () => {
    const task = { ...MONTHLY, prompt: "Write it.", deliverTo: "subscribers", owner: to("c1") } as const;
    const world = await start({ digest: task });
    for (let count = 1; count <= 6; count += 1) {
      await world.stub.schedules.run("digest");
      const [occurrence] = await untilEnded(world, "digest", count);
      expect(occurrence).toMatchObject({ state: "skipped", code: "no-targets" });
    }
    expect(world.requests).toHaveLength(1);
    expect(await world.stub.schedules.list()).toMatchObject([{ failures: 0, isPaused: false }]);
    await world.stub.broadcasts.subscribe(to("c1"));
    world.script(digest);
    await world.stub.schedules.run("digest");
    expect(await untilEnded(world, "digest", 7)).toMatchObject([
      { state: "delivered" },
      ...Array.from({ length: 6 }, () => ({ state: "skipped" })),
    ]);
    expect(world.chats.visible("c1").at(-1)).toBe("The digest.");
  });

  it("calls no model if all its subscribers have left the bot", async () => {
    const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo: "subscribers" } });
    await world.stub.broadcasts.subscribe(to("c1"));
    await runInDurableObject(world.stub, (bot) =>
      bot.inner("chatGone", ["fake", "c1", "bot-blocked", Date.now()]),
    );
    await world.stub.schedules.run("digest");
    expect(await untilEnded(world, "digest")).toMatchObject([{ state: "skipped", code: "no-targets" }]);
    expect(world.requests).toHaveLength(1);
  });

  it("runs in the conversation of each subscriber with fanOut each, and counts their tokens", async () => {
    const world = await start(
      { digest: { ...MONTHLY, prompt: "Write it.", deliverTo: "subscribers", fanOut: "each" } },
      {},
      ["c1", "c2"],
    );
    for (const chat of ["c1", "c2"]) await world.stub.broadcasts.subscribe(to(chat));
    world.script(digest);
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence).toMatchObject({ state: "delivered", usage: { input: 2, output: 2 } });
    for (const chat of ["c1", "c2"]) expect(world.chats.visible(chat).at(-1)).toBe("The digest.");
    expect(await world.stub.broadcasts.get(occurrence?.broadcastId ?? "")).toMatchObject({
      sent: 2,
      usage: { input: 2, output: 2 },
    });
  });

  it("fails with the reason if no target can be reached", async () => {
    const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("nowhere") } });
    await world.stub.schedules.run("digest");
    expect(await untilEnded(world, "digest")).toMatchObject([{ state: "failed", code: "chat-unknown" }]);
    expect(world.requests).toHaveLength(1);
  });

  it("of each conversation runs there, and only where somebody has written", async () => {
    const world = await start({ checkIn: { ...MONTHLY, scope: "conversation", prompt: "Check in." } });
    world.script(({ asker }) => [say(`Checking in at ${asker.slice(-2)}`)]);
    expect(await world.thread("c2").schedules.run("checkIn")).toBeUndefined();
    expect(await world.thread("c1").schedules.run("checkIn")).toBeDefined();
    await vi.waitFor(() => expect(world.chats.visible("c1").at(-1)).toBe("Checking in at c1"), 8000);
    expect(await world.thread("c2").schedules.occurrences()).toEqual([]);
    expect(await world.stub.schedules.occurrences()).toEqual([]);
  });
});

describe("a scheduled handler", () => {
  it("gets the facts of its occurrence", async () => {
    const seen: ScheduledOccurrence[] = [];
    const handler = (occurrence: ScheduledOccurrence): void => void seen.push(occurrence);
    const world = await start({ job: { ...MONTHLY, metadata: { kind: "x" }, handler } });
    const key = await world.stub.schedules.run("job", Date.parse("2026-11-01T00:00Z"));
    await untilEnded(world, "job");
    expect(seen).toEqual([
      {
        taskId: "job",
        scheduledFor: Date.parse("2026-11-01T00:00Z"),
        scheduledForDate: new Date("2026-11-01T00:00Z"),
        occurrenceKey: key,
        idempotencyKey: `${world.root}:${key}`,
        schedule: MONTHLY.schedule,
        scheduleKind: "monthly",
        timezone: "UTC",
        metadata: { kind: "x" },
      },
    ]);
  });

  it("runs again after the process died in it", async () => {
    const gate = createGate();
    let runs = 0;
    const world = await start({
      job: {
        ...MONTHLY,
        handler: async () => {
          runs += 1;
          if (runs === 1) await gate.pass();
        },
      },
    });
    await world.stub.schedules.run("job");
    await untilReached(gate);
    await kill(world);
    expect(await untilEnded(world, "job")).toMatchObject([{ state: "done", attempts: 2 }]);
    expect(runs).toBe(2);
  });
});

describe("the declaration of scheduled tasks", () => {
  it("is named by the health check and breaks nothing else if it is wrong", async () => {
    const world = await start({ digest: { schedule: "every day at 09:00", prompt: "Write it." } });
    expect(world.chats.visible("c1")).toEqual(["You said: Hello from c1"]);
    const refused = await runInDurableObject(world.stub, (bot) =>
      bot.internal_reconcileScheduledTasks().catch((error: unknown) => String(error)),
    );
    expect(refused).toMatch(/The scheduled task "digest" cannot run\..*getDefaultTimezone/);
    const health = await runInDurableObject(
      world.stub,
      (bot) => bot.inner("healthProblem", []) as Promise<{ readonly message: string }>,
    );
    expect(health.message).toMatch(/The scheduled task "digest" cannot run/);
  });

  it("takes the bot's default zone", async () => {
    const world = await start(
      { digest: { schedule: "every day at 09:00", prompt: "Write it." } },
      { defaultTimezone: "Europe/London" },
    );
    expect(await world.stub.schedules.run("digest")).toBeDefined();
  });

  it("is read again when the bot asks for it", async () => {
    const tasks: Record<string, ThinkScheduledTasks[string]> = {};
    const world = await start(tasks);
    expect(await world.stub.schedules.run("job")).toBeUndefined();
    tasks["job"] = { ...MONTHLY, handler: () => undefined };
    await world.stub.internal_reconcileScheduledTasks();
    expect(await world.stub.schedules.run("job")).toBeDefined();
    await untilEnded(world, "job");
  });
});
