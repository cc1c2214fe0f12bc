import { expect, it } from "vitest";
import { createBudget } from "../../../delivery/index.ts";
import type { AskSpeaker } from "../../../delivery/message-boxes.ts";
import { plannedRow } from "../../../delivery/outbox-entry.ts";
import { OutboxStore } from "../../../delivery/outbox-store.ts";
import { ReplyStore } from "../../../delivery/reply-store.ts";
import type { Budget } from "../../../src/core/budget.ts";
import type { Address } from "../../../src/core/surface.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import { ADDRESS, createHarness, depsOn, MARK } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const NORTH = { ...ADDRESS, threadId: "telegram:7:5", topicId: "5", isDirectMessage: false };
const SOUTH = { ...NORTH, threadId: "telegram:7:6", topicId: "6" };

interface Forum {
  readonly harness: Harness;
  /** The root begins anew, with what it has stored. */
  readonly restartRoot: () => void;
}

/** North is a real object; South has posted, and answers as it is told. */
async function forum(south: AskSpeaker): Promise<Forum> {
  const database = createNodeDatabase();
  let root: Budget | undefined;
  const harness = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    policy: { callTimeoutMs: 1_000 },
    budget: () => ({
      acquire: (...call) => current().acquire(...call),
      penalize: (...call) => current().penalize(...call),
      boxes: {
        observe: async (...told) => current().boxes?.observe(...told),
        unseen: async (...asked) => {
          const { boxes } = current();
          if (boxes === undefined) throw new Error("A root knows boxes.");
          return boxes.unseen(...asked);
        },
      },
    }),
  });
  const current = (): Budget => {
    root ??= createBudget({ database, deps: depsOn(harness.clock), askSpeaker: south });
    return root;
  };
  const news = { box: "common", isPost: true, sentIds: [] };
  await current().acquire(SOUTH, "post", harness.surface.pacing, { news });
  await current().boxes?.observe("telegram", "common", [100], SOUTH);
  await harness.advance(1_000);
  return { harness, restartRoot: () => (root = undefined) };
}

it("finds a lost post in a topic after a restart, because the other topic says what is its own", async () => {
  const asked: string[] = [];
  const { harness, restartRoot } = await forum((speaker, { chatId, afterId }) => {
    asked.push(`${speaker} ${chatId} ${afterId}`);
    return Promise.resolve({ ids: [101], hasLostPost: false, isPosting: false });
  });
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(20);
  surface.postForeign("7", "Of the other topic.");
  restartRoot();
  await advance(30_000);
  expect(visible()).toEqual(["Of the other topic.", TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
  expect(asked[0]).toBe(`${SOUTH.threadId} 7 100`);
});

const UNCERTAIN: readonly [string, AskSpeaker][] = [
  ["posts all the time", () => Promise.resolve({ ids: [], hasLostPost: false, isPosting: true })],
  ["cannot be reached", () => Promise.reject(new Error("down"))],
  ["does not answer", () => new Promise(() => {})],
];

it.each(UNCERTAIN)("leaves it to the policy when the other topic %s", async (_name, south) => {
  const { harness, restartRoot } = await forum(south);
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(20);
  restartRoot();
  await advance(120_000);
  expect(visible()).toEqual([TEXT, `${MARK}\n${TEXT}`]);
});

it("takes away what it finds when the other topic has a lost post too, and says its own anew", async () => {
  const { harness, restartRoot } = await forum(() =>
    Promise.resolve({ ids: [], hasLostPost: true, isPosting: false }),
  );
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(20);
  surface.postForeign("7", "Lost by the other topic.");
  restartRoot();
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")?.messages.filter(({ state }) => state === "sent")).toHaveLength(1);
});

it("holds a topic only until it is told what became of the other one's post, with whatever request", async () => {
  const { budget, surface, clock } = createHarness({ surface: { probing: true } });
  await clock.advance(60_000);
  const ask = (address: Address, isPost: boolean, sentIds: readonly number[] = []) =>
    budget.acquire(address, isPost ? "post" : "edit", surface.pacing, {
      news: { box: "common", isPost, sentIds },
    });
  // In a forum there will be others: the first post is told of at once, too.
  expect(await ask(NORTH, true)).toMatchObject({ kind: "granted", tellsAtOnce: true });
  expect(await ask(SOUTH, true)).toMatchObject({ kind: "wait" });
  expect(await ask(NORTH, false, [101])).toMatchObject({ kind: "granted" });
  expect(await ask(SOUTH, true)).toMatchObject({ kind: "granted" });
  const alone = { ...NORTH, chatId: "8", threadId: "telegram:8", topicId: undefined };
  expect(await ask(alone, true)).not.toHaveProperty("tellsAtOnce");
});

it("holds nobody up for a post that was refused, also the first thread that comes to the chat", async () => {
  let root: Budget | undefined;
  const harness = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    budget: (own) => (root = own),
  });
  const { surface, delivery, start, advance } = harness;
  await advance(1_000);
  surface.fault("post", { kind: "fail", failure: { kind: "gone", code: "topic-missing" } });
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(100);
  const news = { box: "common", isPost: true, sentIds: [] };
  expect(await root?.acquire(SOUTH, "post", surface.pacing, { news })).toMatchObject({ kind: "granted" });
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

it("tells what it has sent into a chat, and whether a post of its own is open", async () => {
  const { surface, delivery, start, advance, clock } = createHarness({ surface: { probing: true } });
  const question = { messengerId: "telegram", chatId: "7", afterId: 101, sinceAt: clock.now() };
  delivery.send(start("r1", { address: NORTH }), "One.");
  delivery.send(start("r2", { address: NORTH }), "Two.");
  delivery.send(start("r3", { address: { ...NORTH, chatId: "8", threadId: "telegram:8" } }), "Elsewhere.");
  await advance(1_000);
  expect(surface.messages("7").map(({ id }) => id)).toContain("101");
  const own = delivery.ownMessages(question);
  const here = surface.messages("7").map(({ id }) => Number(id));
  expect(own).toEqual({ ids: here.filter((id) => id > 101), hasLostPost: false, isPosting: false });
  surface.fault("post", { kind: "hang" });
  delivery.send(start("r4", { address: NORTH }), "Three.");
  await advance(100);
  expect(delivery.ownMessages(question)).toMatchObject({ hasLostPost: false, isPosting: true });
  expect(delivery.ownMessages({ ...question, chatId: "8" })).toMatchObject({ isPosting: false });
  await advance(15_100);
  expect(delivery.ownMessages(question)).toMatchObject({ hasLostPost: true, isPosting: false });
});

const NEWS = { box: "common", isPost: true, sentIds: [] };

it("lets one thread of a chat post at a time, until what became of it is told", async () => {
  const { harness } = await forum(() => Promise.resolve({ ids: [], hasLostPost: false, isPosting: false }));
  const { budget, surface, clock, delivery, start, advance } = harness;
  const ask = () => budget.acquire(SOUTH, "post", surface.pacing, { news: NEWS });

  surface.fault("post", { kind: "hang" });
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(100);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
  expect(await ask()).toMatchObject({ kind: "wait", retryAt: clock.now() + 250 });
  // What changes no ids is not held.
  expect(await budget.acquire(SOUTH, "final", surface.pacing)).toMatchObject({ kind: "granted" });
});

it.each([
  ["has been made", undefined],
  ["was refused", { kind: "fail", failure: { kind: "transient", code: "server-500" } }],
] as const)("lets the next one post at once when a post %s", async (_name, fault) => {
  const { harness } = await forum(() => Promise.resolve({ ids: [], hasLostPost: false, isPosting: false }));
  const { budget, surface, delivery, start, advance } = harness;
  if (fault !== undefined) surface.fault("post", fault);
  delivery.send(start("r1", { address: NORTH }), TEXT);
  await advance(200);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
  expect(await budget.acquire(SOUTH, "post", surface.pacing, { news: NEWS })).toMatchObject({
    kind: "granted",
  });
});

it("waits a moment after a start of the root, so that who misses a message can say so", async () => {
  const { harness, restartRoot } = await forum(() =>
    Promise.resolve({ ids: [], hasLostPost: false, isPosting: false }),
  );
  const { budget, surface, clock, advance } = harness;
  await budget.acquire(NORTH, "post", surface.pacing, { news: NEWS });
  restartRoot();
  const ask = () => budget.acquire(SOUTH, "post", surface.pacing, { news: NEWS });
  expect(await ask()).toMatchObject({ kind: "wait", retryAt: clock.now() + 500 });
  await budget.boxes?.unseen(NORTH, "common", { afterId: 100, sinceAt: clock.now() });
  await advance(500);
  expect(await ask()).toMatchObject({ kind: "wait", retryAt: clock.now() + 250 });
  await advance(4_500);
  expect(await ask()).toMatchObject({ kind: "granted" });
});

it("still misses a message as long as it does not know what lies before the one that was made anew", () => {
  const database = createNodeDatabase();
  const [replies, outbox] = [new ReplyStore(database), new OutboxStore(database)];
  const start = {
    id: "r1",
    address: NORTH,
    policy: {},
    isNotice: false,
    state: "streaming",
    position: 1,
  } as const;
  replies.insert({ ...start, openedAt: 1 }, undefined);
  const question = { messengerId: "telegram", chatId: "7", afterId: 100, sinceAt: 1_000 };
  const row = { ...plannedRow("r1", 0), state: "sent", messageId: "110", begunAt: 1_000 } as const;
  outbox.write(row);
  expect(outbox.ownMessages(question)).toEqual({ ids: [110], hasLostPost: false, isPosting: false });
  outbox.write({ ...row, probedTo: 104 });
  expect(outbox.ownMessages(question)).toEqual({ ids: [110], hasLostPost: true, isPosting: false });
});

it("keeps what it has said anew when the lost post is answered after it was taken away", async () => {
  const { harness } = await forum(() => Promise.resolve({ ids: [], hasLostPost: true, isPosting: false }));
  const { surface, delivery, start, visible, advance } = harness;
  const post = surface.post.bind(surface);
  let isFirst = true;
  surface.post = async (...call) => {
    const posted = await post(...call);
    if (!isFirst) return posted;
    isFirst = false;
    // Made at once, answered behind its time limit.
    await new Promise<void>((resolve) => void harness.clock.setTimeout(resolve, 3_000));
    return posted;
  };
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
  expect(surface.messages("7").map(({ id }) => id)).not.toContain("101");
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered" });
});

it("leaves a message alone that another topic has claimed since it was found", async () => {
  let asked = 0;
  const { harness } = await forum(() => {
    asked += 1;
    // The look, the search and the find: then the other topic knows that it is its own.
    return Promise.resolve({ ids: asked > 3 ? [102] : [], hasLostPost: false, isPosting: false });
  });
  const { surface, delivery, start, advance } = harness;
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(60_000);
  expect(asked).toBeGreaterThan(3);
  const sent = delivery.receipt("r1")?.messages.filter(({ state }) => state === "sent");
  expect(sent).toMatchObject([{ messageId: "103" }]);
  expect(surface.messages("7").map(({ id }) => id)).toEqual(["102", "103"]);
});
