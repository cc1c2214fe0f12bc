import { describe, expect, it } from "vitest";
import type { ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { ChatNews } from "../../../src/core/chat/gate.ts";
import { ADDRESS, createHarness, MARK } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const NORTH = { ...ADDRESS, threadId: "telegram:7:5", topicId: "5", isDirectMessage: false };
const SOUTH = { ...NORTH, threadId: "telegram:7:6", topicId: "6" };

const NEWS: ChatNews = { box: "common", sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false };

interface Forum extends Harness {
  /** Asks for a post of the other topic, which speaks from another object. */
  readonly askSouth: () => ReturnType<Harness["gate"]["acquire"]>;
  readonly tellSouth: (news: Partial<ChatNews>) => Promise<void>;
}

/** North is a real object, South is played by the test, and the gate is a third object. */
async function forum(options: HarnessOptions = {}): Promise<Forum> {
  const harness = createHarness({
    isOwnGate: false,
    surface: { probing: true, capabilities: { typing: false }, ...options.surface },
    policy: { callTimeoutMs: 1_000, ...options.policy },
  });
  const { gate, surface, advance } = harness;
  await advance(60_000);
  const south = { address: SOUTH, speaker: "south" };
  return {
    ...harness,
    askSouth: () =>
      gate.acquire({ ...south, purpose: "post", pacing: surface.pacing, isPost: true, news: NEWS }),
    tellSouth: (news) => gate.report({ ...south, news: { ...NEWS, ...news } }),
  };
}

it("lets no other topic post while a post is under way, but lets all of them edit", async () => {
  const { askSouth, gate, surface, clock, delivery, start, advance } = await forum();
  surface.fault("post", { kind: "hang" });
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(100);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
  expect(await askSouth()).toMatchObject({ kind: "wait", reason: "post", retryAt: clock.now() + 250 });
  const edit = { address: SOUTH, speaker: "south", pacing: surface.pacing, news: NEWS };
  expect(await gate.acquire({ ...edit, purpose: "edit" })).toMatchObject({ kind: "granted" });
  expect(await gate.acquire({ ...edit, purpose: "final" })).toMatchObject({ kind: "granted" });
});

it.each([
  ["has been made", undefined],
  ["was refused", { kind: "fail", failure: { kind: "transient", code: "server-500" } }],
  [
    "was refused for good",
    { kind: "fail", failure: { kind: "gone", code: "topic-missing", scope: "thread" } },
  ],
] as const)("lets the next one post at once when a post %s", async (_name, fault) => {
  const { askSouth, surface, delivery, start, advance } = await forum();
  if (fault !== undefined) surface.fault("post", fault);
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(60);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
  expect(await askSouth()).toMatchObject({ kind: "granted" });
});

it("lets the next topic post as soon as a lost post is found, or is known not to exist", async () => {
  for (const done of [true, false]) {
    const { askSouth, surface, delivery, start, advance, visible } = await forum();
    surface.fault("post", { kind: "lose", done });
    delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
    await advance(300);
    expect((await askSouth()).kind).toBe(done ? "granted" : "wait");
    if (done) continue;
    await advance(2_500);
    expect((await askSouth()).kind).toBe("wait");
    await advance(1_500);
    expect(visible()).toEqual([TEXT]);
    expect((await askSouth()).kind).toBe("granted");
  }
});

it("waits for a topic that does not report its post, but not forever", async () => {
  const { askSouth, surface, delivery, start, advance, clock, visible } = await forum();
  await askSouth();
  const begunAt = clock.now();
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(29_000);
  expect(surface.calls).toEqual([]);
  await advance(3_000);
  expect(visible()).toEqual([TEXT]);
  expect((surface.calls[0]?.at ?? 0) - begunAt).toBeLessThanOrEqual(30_000 + 2_000);
});

describe("when another topic has never reported its post", () => {
  const POLICIES: readonly [NonNullable<ReplyPolicy["onUnknown"]>, readonly string[]][] = [
    ["resend-marked", [TEXT, `${MARK}\n${TEXT}`]],
    ["resend", [TEXT, TEXT]],
    ["leave", [TEXT]],
  ];

  it.each(POLICIES)(
    "a message that is found may be its own: the policy decides (%s)",
    async (onUnknown, shown) => {
      const { askSouth, surface, delivery, start, advance, visible, lines } = await forum({
        policy: { onUnknown },
      });
      await askSouth();
      await advance(31_000);
      surface.fault("post", { kind: "lose", done: true });
      delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
      await advance(120_000);
      expect(visible()).toEqual(shown);
      expect(lines.join()).toContain("chat-shared");
    },
  );

  it("the message of that topic is neither taken nor changed", async () => {
    const { askSouth, surface, delivery, start, advance, visible } = await forum();
    await askSouth();
    await advance(31_000);
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
    await advance(500);
    surface.postForeign("7", "Of the other topic.");
    await advance(120_000);
    expect(visible()).toEqual(["Of the other topic.", `${MARK}\n${TEXT}`]);
  });

  it("a post that is not there is made again without a mark", async () => {
    const { askSouth, surface, delivery, start, advance, visible } = await forum();
    await askSouth();
    await advance(31_000);
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
    await advance(120_000);
    expect(visible()).toEqual([TEXT]);
  });

  it("the lost message is known again when that topic says what is its own", async () => {
    const { askSouth, tellSouth, surface, delivery, start, advance, visible } = await forum();
    await askSouth();
    await advance(31_000);
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
    await advance(500);
    surface.postForeign("7", "Of the other topic.");
    const late = surface.postForeign("7", TEXT);
    await tellSouth({ sentIds: [101], newestId: 101, ticket: 1 });
    await advance(120_000);
    expect(visible()).toEqual(["Of the other topic.", TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: late, attempts: 1 }] });
  });
});

it("goes on in the other topics of a chat when one of them is gone", async () => {
  const { surface, delivery, start, advance, visible, ended, gone } = createHarness({
    surface: { capabilities: { typing: false } },
  });
  surface.fault("post", { kind: "fail", failure: { kind: "gone", code: "topic-missing", scope: "thread" } });
  delivery.send(start("r1", { address: NORTH }), TEXT);
  delivery.send(start("r2", { address: NORTH }), TEXT);
  delivery.open(start("r3", { address: SOUTH }));
  await advance(1_000);
  expect(ended).toEqual([
    ["r1", "gone"],
    ["r2", "gone"],
  ]);
  expect(gone).toEqual([[NORTH.threadId, "topic-missing"]]);
  delivery.finish("r3", "Three.");
  delivery.send(start("r4", { address: SOUTH }), "Four.");
  await advance(5_000);
  expect(visible()).toEqual(["Three.", "Four."]);
});

it("tells its own gate what it has sent into a chat, and whether a post of another thread is in doubt", async () => {
  const { surface, delivery, start, advance, clock } = createHarness({ surface: { probing: true } });
  const chat = { messengerId: "telegram", chatId: "7" };
  const begunAt = clock.now();
  expect(delivery.lastUsedAt()).toBeUndefined();
  delivery.send(start("r1", { address: NORTH }), "One.");
  delivery.send(start("r2", { address: NORTH }), "Two.");
  delivery.send(start("r3", { address: { ...NORTH, chatId: "8", threadId: "telegram:8" } }), "Elsewhere.");
  await advance(1_000);
  const here = surface.messages("7").map(({ id }) => Number(id));
  expect(here).toHaveLength(2);
  expect(delivery.sentIds(chat, 0)).toEqual(here);
  expect(delivery.sentIds(chat, here[0] ?? 0)).toEqual(here.slice(1));
  expect(delivery.sentIds({ ...chat, messengerId: "slack" }, 0)).toEqual([]);
  expect(delivery.isInDoubt(chat, "")).toBe(false);
  expect(delivery.lastUsedAt()).toBeGreaterThanOrEqual(begunAt);

  surface.fault("post", { kind: "hang" });
  delivery.send(start("r4", { address: NORTH, seenMessageId: "100" }), "Three.");
  await advance(100);
  const isInDoubt = (): readonly boolean[] => [
    delivery.isInDoubt(chat, ""),
    delivery.isInDoubt(chat, SOUTH.threadId),
    delivery.isInDoubt(chat, NORTH.threadId),
    delivery.isInDoubt({ ...chat, chatId: "8" }, ""),
  ];
  expect(isInDoubt(), "under way").toEqual([true, true, false, false]);
  await advance(15_100);
  expect(isInDoubt(), "in doubt").toEqual([true, true, false, false]);
  await advance(20_000);
  expect(isInDoubt(), "made again").toEqual([false, false, false, false]);
  expect(surface.visible("7")).toEqual(["One.", "Two.", "Three."]);
});

it("does not wake up in a penalty for a topic that waits for the lost post of another one (I8)", async () => {
  const { surface, delivery, start, advance, clock, wakeAt, visible } = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    policy: { callTimeoutMs: 1_000 },
  });
  surface.fault("post", { kind: "lose", done: true });
  surface.fault("probe", {
    kind: "fail",
    failure: { kind: "retry-after", retryAfterMs: 3_600_000, code: "too-many-requests" },
  });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), "One.");
  delivery.send(start("r2", { address: SOUTH }), "Two.");
  await advance(60_000);
  const endOfPenalty = wakeAt() ?? 0;
  expect(endOfPenalty).toBeGreaterThan(clock.now() + 3_500_000);
  const running = delivery.run();
  expect(wakeAt(), "a look at it puts its wake no nearer").toBe(endOfPenalty);
  await running;
  expect(wakeAt()).toBe(endOfPenalty);
  await advance(3_600_000);
  expect(visible()).toEqual(["One.", "Two."]);
});

it("posts into the other topics as soon as a late answer says that a lost post was refused", async () => {
  const { surface, delivery, start, advance, clock, visible } = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    policy: { callTimeoutMs: 1_000, editEveryMs: 30_000 },
  });
  const post = surface.post.bind(surface);
  surface.post = async (...call) => {
    surface.post = post;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_500));
    surface.fault("post", { kind: "fail", failure: { kind: "transient", code: "502" } });
    return post(...call);
  };
  delivery.open(start("r1", { address: NORTH, seenMessageId: "100" }));
  delivery.append("r1", "One");
  await advance(500);
  delivery.send(start("r2", { address: SOUTH }), "Two.");
  await advance(2_000);
  expect(visible()).toEqual(["Two."]);
  delivery.finish("r1", "One.");
  await advance(5_000);
  expect(visible()).toEqual(["Two.", "One."]);
});
