import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BroadcastTargets, NewBroadcast } from "../../../src/core/turn/broadcast.ts";
import { BroadcastWorld, chatAddress } from "./broadcast-world.ts";
import type { Fate } from "./broadcast-world.ts";

const chatsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `c${String(index).padStart(5, "0")}`);
const inChats = (chats: readonly string[]): BroadcastTargets =>
  chats.map((chatId) => ({ messenger: "fake", chatId }));
const news = (targets: BroadcastTargets, rest: Partial<NewBroadcast> = {}): NewBroadcast => ({
  id: "news",
  work: { kind: "content", content: "News", informModel: true },
  targets,
  ...rest,
});

async function started(world: BroadcastWorld, request: NewBroadcast): Promise<void> {
  const start = world.broadcasts.start(request);
  let isDone = false;
  void start.finally(() => (isDone = true)).catch(() => undefined);
  await world.clock.advanceUntil(() => isDone, 1_000);
  await start;
}

describe("a broadcast", () => {
  it("reaches every chat of a list once, and says so", async () => {
    const world = new BroadcastWorld();
    const chats = chatsOf(450);
    await started(world, news(inChats([...chats, ...chats])));
    expect(world.broadcasts.get("news")).toMatchObject({ state: "running", total: 450, waiting: 450 });
    expect(world.calls.length).toBe(0);
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", total: 450, sent: 450, waiting: 0 });
    expect(world.totalPosts).toBe(450);
  });

  it("reaches the chats that a function chooses, page by page", async () => {
    const world = new BroadcastWorld();
    world.chats = chatsOf(1_200);
    await started(
      world,
      news(({ chatId }) => Number(chatId.slice(1)) % 3 === 0),
    );
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", total: 400, sent: 400 });
    expect(world.posts("c00001")).toBe(0);
    expect(world.posts("c01197")).toBe(1);
  });

  it("reaches subscribers, but not those who unsubscribe before their turn", async () => {
    const world = new BroadcastWorld();
    for (const chat of chatsOf(300)) world.subscribers.add(chatAddress(chat), 1);
    await started(world, news("subscribers"));
    await world.run(1);
    world.subscribers.remove(chatAddress("c00299"));
    await world.run();
    expect(world.posts("c00299")).toBe(0);
    const ended = { state: "done", sent: 299, skipped: 1, skips: { unsubscribed: 1 } };
    expect(world.broadcasts.get("news")).toMatchObject(ended);
  });

  it("hands over at most 200 targets a run, and few at once", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(chatsOf(1_000))));
    await world.run(1);
    expect(world.calls.length).toBe(200);
    await world.run(1);
    expect(world.calls.length).toBe(400);
    expect(world.mostAtOnce).toBeLessThanOrEqual(64);
  });

  it("tells failed and skipped chats with their codes", async () => {
    const world = new BroadcastWorld();
    world.gone.add("c00001");
    world.fateOf = (chat) => (chat === "c00002" ? "blocked" : "sent");
    await started(world, news(inChats(chatsOf(4))));
    await world.run();
    const ended = { sent: 2, failures: { "bot-blocked": 1 }, skips: { "chat-gone": 1 } };
    expect(world.broadcasts.get("news")).toMatchObject(ended);
    expect(world.broadcasts.receipts("news", { state: "failed" }).receipts).toMatchObject([
      { address: { chatId: "c00002" }, code: "bot-blocked" },
    ]);
    const first = world.broadcasts.receipts("news", { limit: 2 });
    const second = world.broadcasts.receipts("news", { limit: 2, cursor: first.cursor ?? "" });
    expect([...first.receipts, ...second.receipts].length).toBe(4);
    expect(second.cursor).toBeUndefined();
    expect(
      [...first.receipts, ...second.receipts].flatMap(({ messageIds }) => messageIds).toSorted(),
    ).toEqual(["m-c00000", "m-c00003"]);
  });

  it("waits for a slow outcome, and asks again", async () => {
    const world = new BroadcastWorld();
    world.fateOf = () => "slow";
    await started(world, news(inChats(chatsOf(3))));
    await world.run(1);
    expect(world.broadcasts.get("news")).toMatchObject({ state: "running", waiting: 3, sent: 0 });
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 3 });
    expect(world.totalPosts).toBe(3);
  });

  it("gives two broadcasts turns, so that a short one does not wait for a long one", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(chatsOf(2_000))));
    const short = inChats(["x"]);
    await started(world, news(short, { id: "short" }));
    await world.run(3);
    expect(world.broadcasts.get("short")).toMatchObject({ state: "done", sent: 1 });
    expect(world.broadcasts.get("news")).toMatchObject({ state: "running" });
  });

  it("waits for the bot's rate", async () => {
    const world = new BroadcastWorld();
    const began = world.clock.now();
    let paid = 0;
    world.payAt = () => {
      const readyAt = began + paid * 33;
      if (readyAt > world.clock.now()) return readyAt;
      paid += 1;
      return undefined;
    };
    await started(world, news(inChats(chatsOf(600))));
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 600 });
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(599 * 33);
    expect(world.clock.now() - began).toBeLessThan(25_000);
  });
});

describe("the same key again", () => {
  it("sends nothing", async () => {
    const world = new BroadcastWorld();
    const request = news(inChats(chatsOf(5)));
    await started(world, request);
    await world.run();
    await started(world, request);
    await world.run();
    expect(world.totalPosts).toBe(5);
    expect(world.calls.length).toBe(5);
  });

  it("is refused with other content or targets", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(["a"])));
    const other = { kind: "content", content: "Other", informModel: true } as const;
    await expect(world.broadcasts.start(news(inChats(["a"]), { work: other }))).rejects.toMatchObject({
      code: "broadcast-conflict",
    });
    await expect(world.broadcasts.start(news(inChats(["b"])))).rejects.toMatchObject({
      code: "broadcast-conflict",
    });
  });

  it("continues a call that died while it collected its chats, and nothing is sent before", async () => {
    const world = new BroadcastWorld();
    const request = news(inChats(chatsOf(2_000)));
    void world.broadcasts.start(request).catch(() => undefined);
    await world.clock.settle();
    world.kill();
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "collecting" });
    expect(world.calls.length).toBe(0);
    await started(world, request);
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", total: 2_000, sent: 2_000 });
  });
});

describe("the end of a broadcast", () => {
  it("comes with cancel: no further message begins", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(chatsOf(1_000))));
    await world.run(1);
    expect(world.broadcasts.cancel("news")).toBe(true);
    await world.run();
    const ended = { state: "cancelled", total: 1_000, sent: 200, skipped: 800, skips: { cancelled: 800 } };
    expect(world.broadcasts.get("news")).toMatchObject(ended);
    expect(world.totalPosts).toBe(200);
    expect(world.broadcasts.cancel("news")).toBe(false);
    expect(world.broadcasts.receipts("news", { limit: 1000 }).receipts.at(-1)).toMatchObject({
      state: "skipped",
      code: "cancelled",
    });
  });

  it("comes when it expires, and that is visible", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(chatsOf(300)), { expiresAfterMs: 60_000 }));
    await world.run(1);
    await world.clock.advance(61_000);
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({
      state: "expired",
      sent: 200,
      skips: { expired: 100 },
    });
  });

  it("counts a message that was sent before a crash, also when the broadcast is cancelled after it", async () => {
    const world = new BroadcastWorld();
    await started(world, news(inChats(chatsOf(300))));
    world.onCall = () => {
      if (world.calls.length === 30) world.kill();
    };
    await world.run(1);
    world.onCall = () => {};
    world.broadcasts.cancel("news");
    await world.run();
    const { sent, skipped, state } = world.broadcasts.get("news") ?? {};
    expect({ sent, skipped, state }).toEqual({
      sent: world.totalPosts,
      skipped: 300 - world.totalPosts,
      state: "cancelled",
    });
    expect(world.totalPosts).toBeGreaterThan(0);
  });
});

it("puts chats aside whose account must wait for long, and holds nobody else up", async () => {
  const HOUR_MS = 3_600_000;
  const world = new BroadcastWorld();
  const beganAt = world.clock.now();
  const refused = new Set(chatsOf(300));
  world.payAt = (chatId) =>
    refused.has(chatId) && world.clock.now() < beganAt + HOUR_MS ? beganAt + HOUR_MS : undefined;
  await started(world, news(inChats(chatsOf(1_000))));
  await world.run(5);
  expect(world.clock.now() - beganAt).toBeLessThan(60_000);
  expect(world.broadcasts.get("news")).toMatchObject({ state: "running", sent: 700, waiting: 300 });
  await world.run();
  expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 1_000 });
  expect(world.totalPosts).toBe(1_000);
});

describe("the quiet hours of chats", () => {
  const HOUR_MS = 3_600_000;

  /** The first chats sleep for an hour. */
  async function asleep(count: number, rest: Partial<NewBroadcast> = {}): Promise<BroadcastWorld> {
    const world = new BroadcastWorld();
    for (const chat of chatsOf(count)) {
      world.quiet.set(chat, world.clock.now() + HOUR_MS);
      world.subscribers.add(chatAddress(chat), 1);
    }
    await started(world, news(inChats(chatsOf(1_000)), rest));
    return world;
  }

  it("hold nobody else up, however many sleep", async () => {
    const world = await asleep(600);
    const beganAt = world.clock.now();
    await world.run(5);
    expect(world.clock.now() - beganAt).toBeLessThan(60_000);
    expect(world.broadcasts.get("news")).toMatchObject({ state: "running", sent: 400, waiting: 600 });
    expect(world.broadcasts.receipts("news", { state: "open" }).receipts).toEqual([]);
    expect(world.broadcasts.receipts("news", { state: "waiting" }).receipts[0]?.state).toBe("waiting");
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 1_000 });
    expect(world.clock.now() - beganAt).toBeGreaterThanOrEqual(HOUR_MS);
    expect(world.totalPosts).toBe(1_000);
  });

  it("are asked for again when they end", async () => {
    const world = await asleep(1);
    await world.run(5);
    world.quiet.set("c00000", world.clock.now() + 2 * HOUR_MS);
    const beganAt = world.clock.now();
    await world.run();
    expect(world.clock.now() - beganAt).toBeGreaterThanOrEqual(2 * HOUR_MS);
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 1_000 });
  });

  it("end with the broadcast", async () => {
    const cancelled = await asleep(600);
    await cancelled.run(5);
    cancelled.broadcasts.cancel("news");
    await cancelled.run();
    const skips = { cancelled: 600 };
    expect(cancelled.broadcasts.get("news")).toMatchObject({ state: "cancelled", sent: 400, skips });
    const expired = await asleep(600, { expiresAfterMs: 600_000 });
    const beganAt = expired.clock.now();
    await expired.run();
    expect(expired.broadcasts.get("news")).toMatchObject({
      state: "expired",
      sent: 400,
      skips: { expired: 600 },
    });
    expect(expired.clock.now() - beganAt).toBeLessThan(700_000);
  });

  it("do not hide what a slice has sent that a crash has cut, when the broadcast is cancelled after it", async () => {
    const world = await asleep(400);
    world.onCall = () => {
      if (world.calls.length === 30) world.kill();
    };
    await world.run(3);
    world.onCall = () => {};
    world.broadcasts.cancel("news");
    await world.run();
    const { sent, skipped, state } = world.broadcasts.get("news") ?? {};
    expect(world.totalPosts).toBeGreaterThan(0);
    expect({ sent, skipped, state }).toEqual({
      sent: world.totalPosts,
      skipped: 1_000 - world.totalPosts,
      state: "cancelled",
    });
  });

  it("do not keep somebody subscribed", async () => {
    const world = await asleep(0);
    await world.run();
    for (const chat of ["a", "b"]) {
      world.subscribers.add(chatAddress(chat), 1);
      world.quiet.set(chat, world.clock.now() + HOUR_MS);
    }
    await started(world, news("subscribers", { id: "more" }));
    await world.run(1);
    world.subscribers.remove(chatAddress("a"));
    await world.run();
    expect([world.posts("a"), world.posts("b")]).toEqual([0, 1]);
    expect(world.broadcasts.get("more")).toMatchObject({ sent: 1, skips: { unsubscribed: 1 } });
  });

  it("do not matter if the broadcast says so", async () => {
    const work = { kind: "content", content: "Now!", informModel: true, ignoresQuietHours: true } as const;
    const world = await asleep(600, { work });
    const beganAt = world.clock.now();
    await world.run();
    expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 1_000 });
    expect(world.clock.now() - beganAt).toBeLessThan(HOUR_MS);
  });
});

describe("a broadcast that cannot be sent", () => {
  it.each<[string, Partial<NewBroadcast>, string]>([
    ["a key that is too long", { id: "x".repeat(201) }, "broadcast-invalid"],
    ["no targets", { targets: undefined }, "broadcast-invalid"],
    ["an expiry in the past", { expiresAfterMs: 0 }, "broadcast-invalid"],
    ["an empty text", { work: { kind: "content", content: " ", informModel: true } }, "content-invalid"],
    [
      "a file's bytes",
      {
        work: {
          kind: "content",
          content: { kind: "files", files: [{ kind: "photo", source: new Uint8Array([1]) }] },
          informModel: true,
        },
      },
      "broadcast-invalid",
    ],
  ])("is refused: %s", async (_name, rest, code) => {
    const world = new BroadcastWorld();
    await expect(world.broadcasts.start(news(inChats(["a"]), rest))).rejects.toMatchObject({ code });
  });
});

describe("over kills, nobody gets a message twice, and nobody is left out", () => {
  async function play(
    count: number,
    kills: readonly number[],
    fates: readonly Fate[],
    /** Every third chat sleeps until then, in milliseconds. */
    sleepMs = 0,
  ): Promise<BroadcastWorld> {
    const world = new BroadcastWorld();
    const chats = chatsOf(count);
    const until = world.clock.now() + sleepMs;
    for (let index = 0; index < count; index += 3) world.quiet.set(chats[index] ?? "", until);
    const seen = new Map<string, number>();
    // A fault is over at some time: each chat has it twice at most.
    world.fateOf = (chat) => {
      const times = (seen.get(chat) ?? 0) + 1;
      seen.set(chat, times);
      const fate = fates[Number(chat.slice(1)) % fates.length] ?? "sent";
      return fate === "unreachable" && times > 2 ? "sent" : fate;
    };
    await started(world, news(inChats(chats)));
    const killAt = new Set(kills);
    let steps = 0;
    // Calls and writes are counted together.
    const step = (): void => {
      steps += 1;
      if (killAt.has(steps)) world.kill();
    };
    world.onCall = step;
    world.onWrite = step;
    await world.run();
    return world;
  }

  const fates = fc.array(
    fc.constantFrom<Fate>("sent", "sent", "answer-lost", "unreachable", "slow", "blocked"),
    {
      minLength: 1,
      maxLength: 12,
    },
  );

  function expectWhole(world: BroadcastWorld, count: number): void {
    const { failed, sent, state, total, waiting } = world.broadcasts.get("news") ?? {};
    expect({ state, total, waiting }).toEqual({ state: "done", total: count, waiting: 0 });
    expect((sent ?? 0) + (failed ?? 0)).toBe(count);
    expect(world.totalPosts).toBe(sent);
    const posts = chatsOf(count).map((chat) => world.posts(chat));
    expect(Math.max(...posts)).toBeLessThanOrEqual(1);
  }

  it("whatever happens to its calls", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 450 }),
        fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 6 }),
        fates,
        fc.constantFrom(0, 10, 1_000, 60_000),
        async (count, kills, fate, sleepMs) => {
          expectWhole(await play(count, kills, fate, sleepMs), count);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("with 10,000 chats and 60 kills", { timeout: 60_000 }, async () => {
    const kills = Array.from({ length: 60 }, (_, index) => 37 + index * 173);
    const world = await play(10_000, kills, [
      "sent",
      "sent",
      "answer-lost",
      "unreachable",
      "slow",
      "blocked",
    ]);
    expectWhole(world, 10_000);
  });
});
