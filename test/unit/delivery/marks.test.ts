import { expect, it } from "vitest";
import type { Mark } from "../../../src/core/chat/mark.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const CHAT = ADDRESS.chatId;
const HOUR_MS = 60 * 60 * 1000;
const like: Mark = { kind: "reaction", messageId: "101", emoji: "👍" };
const refused = (code: string): Fault => ({ kind: "fail", failure: { kind: "rejected", code } });

/** A chat with two messages of the bot, 101 and 102. */
async function withMessages(options: Parameters<typeof createHarness>[0] = {}): Promise<Harness> {
  const harness = createHarness(options);
  harness.delivery.send(harness.start("one"), "One");
  harness.delivery.send(harness.start("two"), "Two");
  await harness.advance(1_000);
  return harness;
}

const mark = ({ delivery }: Harness, id: string, what: Mark): void =>
  delivery.mark({ id, address: ADDRESS, mark: what });
const marksOf = ({ surface }: Harness): unknown[] =>
  surface.messages(CHAT).map(({ isPinned, reaction }) => [reaction, isPinned]);
const callsOf = ({ surface }: Harness): unknown[] =>
  surface.calls.filter(({ method }) => method === "react" || method === "pin").map(({ text }) => text);

it("reacts to a message, and takes the reaction back", async () => {
  const harness = await withMessages();
  mark(harness, "m1", like);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "final", messages: [] });
  await harness.advance(1_000);
  expect(marksOf(harness)).toEqual([
    ["👍", undefined],
    [undefined, undefined],
  ]);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "delivered", threadId: ADDRESS.threadId });
  mark(harness, "m2", { kind: "reaction", messageId: "101" });
  await harness.advance(1_000);
  expect(marksOf(harness)[0]).toEqual([undefined, undefined]);
});

it("pins messages, and takes down the one that was pinned last, in this order", async () => {
  const harness = await withMessages();
  mark(harness, "m1", { kind: "pin", messageId: "101" });
  mark(harness, "m2", { kind: "pin", messageId: "102" });
  mark(harness, "m3", { kind: "unpin" });
  await harness.advance(1_000);
  expect(marksOf(harness)).toEqual([
    [undefined, true],
    [undefined, false],
  ]);
  mark(harness, "m4", { kind: "unpin", messageId: "101" });
  await harness.advance(1_000);
  expect(marksOf(harness)[0]).toEqual([undefined, false]);
});

it("does the same id once", async () => {
  const harness = await withMessages();
  mark(harness, "m1", like);
  await harness.advance(1_000);
  mark(harness, "m1", like);
  await harness.advance(1_000);
  expect(callsOf(harness)).toEqual(["👍"]);
});

it("waits for the end of a penalty, and keeps only the last reaction to a message", async () => {
  const harness = await withMessages();
  const failure = { kind: "retry-after", code: "429", retryAfterMs: 60_000 } as const;
  harness.surface.fault("react", { kind: "fail", failure });
  mark(harness, "m1", { ...like, emoji: "👀" });
  await harness.advance(1_000);
  mark(harness, "m2", like);
  await harness.advance(58_000);
  expect(callsOf(harness)).toEqual(["👀"]);
  await harness.advance(5_000);
  expect(harness.surface.penaltyBreaches).toEqual([]);
  expect(callsOf(harness)).toEqual(["👀", "👍"]);
  expect(harness.delivery.receipt("m1")?.state).toBe("withdrawn");
  expect(harness.delivery.receipt("m2")?.state).toBe("delivered");
});

it.each<[string, Fault]>([
  ["was not done", { kind: "lose", done: false }],
  ["was done", { kind: "lose", done: true }],
  ["was refused for a moment", { kind: "fail", failure: { kind: "transient", code: "server-error" } }],
])("makes a call again that %s", async (_name, fault) => {
  const harness = await withMessages();
  harness.surface.fault("react", fault);
  harness.surface.fault("pin", fault);
  mark(harness, "m1", like);
  mark(harness, "m2", { kind: "pin", messageId: "102" });
  await harness.advance(30_000);
  expect(marksOf(harness)).toEqual([
    ["👍", undefined],
    [undefined, true],
  ]);
  expect(harness.delivery.receipt("m2")?.state).toBe("delivered");
});

it("does not take down a second message when the first outcome is unknown", async () => {
  const harness = await withMessages();
  mark(harness, "m1", { kind: "pin", messageId: "101" });
  mark(harness, "m2", { kind: "pin", messageId: "102" });
  await harness.advance(1_000);
  harness.surface.fault("pin", { kind: "lose", done: true });
  mark(harness, "m3", { kind: "unpin" });
  await harness.advance(HOUR_MS);
  expect(marksOf(harness)).toEqual([
    [undefined, true],
    [undefined, false],
  ]);
  expect(harness.delivery.receipt("m3")).toMatchObject({ state: "failed", code: "outcome-unknown" });
});

it("fails with the platform's code, and the chat still takes messages and other marks", async () => {
  const harness = await withMessages();
  harness.surface.fault("pin", { kind: "fail", failure: { kind: "gone", code: "no-rights" } });
  harness.surface.fault("react", refused("reaction-refused"));
  mark(harness, "m1", { kind: "pin", messageId: "101" });
  mark(harness, "m2", { kind: "reaction", messageId: "102", emoji: "🧇" });
  mark(harness, "m3", { kind: "reaction", messageId: "999", emoji: "👍" });
  mark(harness, "m4", like);
  harness.delivery.send(harness.start("three"), "Three");
  await harness.advance(5_000);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "failed", code: "no-rights" });
  expect(harness.delivery.receipt("m2")).toMatchObject({ state: "failed", code: "reaction-refused" });
  expect(harness.delivery.receipt("m3")).toMatchObject({ state: "failed", code: "message-missing" });
  expect(harness.delivery.receipt("m4")?.state).toBe("delivered");
  expect(harness.visible()).toEqual(["One", "Two", "Three"]);
  expect(harness.gone).toEqual([]);
});

it("gives up after an hour, and says why", async () => {
  const harness = await withMessages();
  harness.surface.faultAlways("react", { kind: "fail", failure: { kind: "transient", code: "down" } });
  mark(harness, "m1", like);
  await harness.advance(HOUR_MS - 60_000);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "final", code: "down" });
  await harness.advance(180_000);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "failed", code: "down" });
  expect(harness.wakeAt()).toBeUndefined();
  expect(callsOf(harness).length).toBeLessThan(120);
});

it.each<[string, Mark]>([
  ["reactions-unsupported", like],
  ["pins-unsupported", { kind: "pin", messageId: "101" }],
  ["pins-unsupported", { kind: "unpin" }],
])("is refused at once with %s where the platform has no such thing", async (code, what) => {
  const harness = await withMessages({ surface: { marks: false } });
  expect(() => mark(harness, "m1", what)).toThrow(expect.objectContaining({ code }));
  expect(harness.delivery.receipt("m1")).toBeUndefined();
});

it("sends nothing to a chat that is gone", async () => {
  const harness = await withMessages();
  harness.surface.fault("post", { kind: "fail", failure: { kind: "gone", code: "blocked" } });
  harness.delivery.send(harness.start("three"), "Three");
  await harness.advance(1_000);
  mark(harness, "m1", like);
  await harness.advance(1_000);
  expect(callsOf(harness)).toEqual([]);
  expect(harness.delivery.receipt("m1")).toMatchObject({ state: "gone", code: "blocked" });
});

/** Marks of two messages, by a process that dies at the boundary `crashAt` and its successor. */
async function live(crashAt: number): Promise<CrashWorld> {
  const world = createCrashWorld({ capabilities: { typing: false } });
  const steps: readonly ((process: CrashProcess) => void)[] = [
    ({ delivery }) => delivery.send(startOf("one"), "One"),
    ({ delivery }) => delivery.send(startOf("two"), "Two"),
    ...(
      [like, { kind: "pin", messageId: "101" }, { kind: "pin", messageId: "102" }, { kind: "unpin" }] as const
    ).map(
      (what, index) => (process: CrashProcess) =>
        process.delivery.mark({ id: `m${index}`, address: ADDRESS, mark: what }),
    ),
  ];
  let done = 0;
  for (const at of [crashAt, Infinity]) {
    try {
      const process = world.boot(at);
      await process.advance(1);
      void process.delivery.run().catch(ignoreCrash);
      while (!process.isDead() && done < steps.length) {
        steps[done]?.(process);
        done += 1;
        await process.advance(500);
      }
      if (!process.isDead()) await process.advance(60_000);
      if (!process.isDead()) return world;
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return world;
}

it("makes every reaction and pin, whenever the process dies, and never unpins two messages", async () => {
  const total = (await live(Infinity)).boundaries().length;
  expect(total).toBeGreaterThan(20);
  for (let crashAt = 1; crashAt <= total; crashAt += 1) {
    const { database, platform } = await live(crashAt);
    const [one, two] = platform.messages(CHAT);
    const states = database
      .all<{ state: string; code: string | null }>("SELECT state, code FROM mark_v1 ORDER BY seq")
      .map(({ code, state }) => code ?? state);
    expect({ crashAt, reaction: one?.reaction, isPinned: one?.isPinned }).toEqual({
      crashAt,
      reaction: "👍",
      isPinned: true,
    });
    expect(states.slice(0, 3)).toEqual(["delivered", "delivered", "delivered"]);
    // Whether it was taken down is not known if the process died during the call.
    if (states[3] === "delivered") expect(two?.isPinned).toBe(false);
    else expect({ crashAt, state: states[3] }).toEqual({ crashAt, state: "outcome-unknown" });
  }
});
