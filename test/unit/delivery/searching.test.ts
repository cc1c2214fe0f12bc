import { expect, it } from "vitest";
import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import { wordsOf } from "../../../delivery/outbox/keyed-post.ts";
import type { FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { cardOf } from "./card-harness.ts";
import { createCrashWorld, startOf } from "./crash-world.ts";
import { ADDRESS, createHarness, MARK } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const KINDS = ["keys", "lists", "repeats"] as const;
const UNDECIDED = { kind: "fail", failure: { kind: "rejected", code: "scope-missing" } } as const;

/** On a platform that finds posts by their key or in a list. Calls last a second at most, and land within three. */
function searched(search: FakeSurfaceOptions["search"], options: HarnessOptions = {}): Harness {
  return createHarness({
    ...options,
    surface: {
      ...(search !== undefined && { search }),
      capabilities: { typing: false },
      ...options.surface,
    },
    policy: { callTimeoutMs: 1_000, ...options.policy },
  });
}

function callsOf({ surface }: Harness): readonly string[] {
  return surface.calls.map(({ method }) => method);
}

function receiptOf({ delivery }: Harness, id = "r1"): DeliveryReceipt {
  const receipt = delivery.receipt(id);
  if (receipt === undefined) throw new Error("There is no such reply.");
  return receipt;
}

it.each(["keys", "lists"] as const)("finds a lost post at once and sends nothing again: %s", async (kind) => {
  const harness = searched(kind);
  harness.surface.fault("post", { kind: "lose", done: true });
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(500);
  expect(harness.visible()).toEqual([TEXT]);
  expect(callsOf(harness)).toEqual(["post", "find"]);
  expect(receiptOf(harness)).toMatchObject({ state: "delivered", messages: [{ messageId: "101" }] });
});

it.each(["keys", "lists"] as const)("takes a number for a card that was found: %s", async (kind) => {
  const { advance, clock, delivery, gate, start, surface } = searched(kind);
  surface.fault("post", { kind: "lose", done: true });
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup", "Cake"], { numbered: true }));
  await advance(20_000);
  expect(delivery.receipt("c1")).toMatchObject({ state: "delivered", messages: [{ messageId: "101" }] });
  const { chatId, messengerId, threadId } = ADDRESS;
  const question = { messengerId, chatId, threadId, messageId: "102", sentAt: clock.now(), isNumbered: true };
  expect(await gate.claimMessage({ ...question, number: 2 })).toMatchObject({ option: 2 });
});

it.each(["keys", "lists"] as const)(
  "sends a post again without a mark once it can no longer land: %s",
  async (kind) => {
    const harness = searched(kind);
    harness.surface.fault("post", { kind: "lose", done: false });
    harness.delivery.send(harness.start("r1"), TEXT);
    await harness.advance(2_900);
    expect(callsOf(harness)).toEqual(["post", "find"]);
    await harness.advance(1_000);
    expect(harness.visible()).toEqual([TEXT]);
    expect(callsOf(harness)).toEqual(["post", "find", "find", "post"]);
    expect(receiptOf(harness).state).toBe("delivered");
  },
);

it("does not take a message that lands after the first look for a missing one", async () => {
  const harness = searched("keys");
  harness.surface.fault("post", { kind: "hang", answerAfterMs: 2_500 });
  harness.surface.fault("find", undefined);
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(10_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(callsOf(harness).filter((method) => method === "post")).toHaveLength(1);
});

it.each([true, false])("repeats a post with its key where that makes no second message: %s", async (done) => {
  const harness = searched("repeats");
  harness.surface.fault("post", { kind: "lose", done });
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(500);
  expect(harness.visible()).toEqual([TEXT]);
  expect(callsOf(harness)).toEqual(["post", "post"]);
  expect(receiptOf(harness)).toMatchObject({ state: "delivered", messages: [{ messageId: "101" }] });
});

it("repeats again and again while the platform fails, and makes one message", async () => {
  const harness = searched("repeats");
  const lost = { kind: "lose", done: true } as const;
  harness.surface.fault("post", lost, lost, lost, lost, lost);
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(20_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(receiptOf(harness).state).toBe("delivered");
});

it("searches when the platform has forgotten the key", async () => {
  const harness = searched("repeats");
  const down = { kind: "fail", failure: { kind: "transient", code: "down" } } as const;
  harness.surface.fault("post", { kind: "lose", done: true }, ...Array.from({ length: 40 }, () => down));
  harness.surface.faultAlways("find", down);
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(60_000);
  harness.surface.faultAlways("find", undefined);
  await harness.advance(120_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(callsOf(harness).at(-1)).toBe("find");
  expect(receiptOf(harness).state).toBe("delivered");
});

it("searches when the platform refuses to take the post again", async () => {
  const harness = searched("repeats");
  const refused = { kind: "fail", failure: { kind: "rejected", code: "bad-request" } } as const;
  harness.surface.fault("post", { kind: "lose", done: true }, refused);
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(500);
  expect(harness.visible()).toEqual([TEXT]);
  expect(callsOf(harness)).toEqual(["post", "post", "find"]);
});

it.each(KINDS)("edits the first words that it finds to the text of today: %s", async (kind) => {
  const harness = searched(kind, { policy: { callTimeoutMs: 1_000, editEveryMs: 100 } });
  harness.surface.fault("post", { kind: "lose", done: true });
  harness.delivery.open(harness.start("r1"));
  harness.delivery.append("r1", "One two");
  await harness.advance(30);
  harness.delivery.append("r1", " three four five.");
  harness.delivery.finish("r1", TEXT);
  await harness.advance(1_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(receiptOf(harness).state).toBe("delivered");
});

it("ends the stream of a message that it finds", async () => {
  const harness = searched("keys", {
    surface: { streams: true },
    policy: { mode: "native", callTimeoutMs: 1_000, editEveryMs: 100 },
  });
  harness.surface.fault("begin", { kind: "lose", done: true });
  harness.delivery.open(harness.start("r1"));
  harness.delivery.append("r1", TEXT);
  await harness.advance(30);
  harness.delivery.finish("r1", TEXT);
  await harness.advance(10_000);
  expect(harness.surface.messages("7")).toMatchObject([{ text: TEXT, isStreaming: false }]);
  expect(receiptOf(harness).state).toBe("delivered");
});

it("does not repeat a post with half of a part where parts come whole", async () => {
  const harness = searched("repeats", { policy: { mode: "buffered", callTimeoutMs: 1_000 } });
  const paragraph = "The lamp went out at nine and nobody noticed it. ".repeat(60);
  harness.surface.fault("post", { kind: "hang" });
  harness.delivery.open(harness.start("r1"));
  harness.delivery.append("r1", `${paragraph}\n\n${paragraph}`);
  await harness.advance(500);
  harness.delivery.replace("r1", "Half a sen");
  await harness.advance(30_000);
  const shown = harness.surface.calls.map(({ text }) => text);
  expect(shown).not.toContain("Half a sen");
});

it.each(KINDS)("takes away the lost message of an answer that was withdrawn: %s", async (kind) => {
  const harness = searched(kind);
  harness.surface.fault("post", { kind: "lose", done: true });
  harness.delivery.open(harness.start("r1"));
  harness.delivery.append("r1", "Half an answer");
  await harness.advance(30);
  harness.delivery.withdraw("r1");
  harness.delivery.open(harness.start("r2", { takesOver: "r1" }));
  harness.delivery.append("r2", TEXT);
  harness.delivery.finish("r2", TEXT);
  await harness.advance(10_000);
  expect(harness.visible()).toEqual([TEXT]);
});

it.each(["keys", "lists"] as const)("asks the policy if the search cannot tell: %s", async (kind) => {
  const harness = searched(kind);
  harness.surface.faultAlways("find", UNDECIDED);
  harness.surface.fault("post", { kind: "lose", done: true });
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(20_000);
  expect(harness.visible()).toEqual([TEXT, `${MARK}\n${TEXT}`]);
  expect(harness.lines.join("\n")).toContain("delivery.lost-post-unresolved");
});

it("leaves one of two posts of the same message when a later search finds both", async () => {
  const harness = searched("keys");
  const lost = { kind: "lose", done: true } as const;
  harness.surface.fault("post", lost, lost);
  harness.surface.fault("find", UNDECIDED, UNDECIDED);
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(20_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(harness.surface.messages("7").map(({ id }) => id)).toEqual(["101"]);
});

it.each(KINDS)("keeps one of two equal messages that were lost one after the other: %s", async (kind) => {
  const harness = searched(kind);
  const lost = { kind: "lose", done: true } as const;
  harness.surface.fault("post", lost, lost);
  harness.delivery.send(harness.start("r1"), "Done.");
  harness.delivery.send(harness.start("r2"), "Done.");
  await harness.advance(20_000);
  expect(harness.visible()).toEqual(["Done.", "Done."]);
  const ids = ["r1", "r2"].map((id) => receiptOf(harness, id).messages[0]?.messageId);
  expect(ids).toEqual(["101", "102"]);
});

it("asks later when the search is refused for its rate", async () => {
  const harness = searched("keys");
  harness.surface.fault("post", { kind: "lose", done: true });
  harness.surface.fault("find", {
    kind: "fail",
    failure: { kind: "retry-after", code: "429", retryAfterMs: 9_000 },
  });
  harness.delivery.send(harness.start("r1"), TEXT);
  await harness.advance(30_000);
  expect(harness.visible()).toEqual([TEXT]);
  expect(harness.surface.penaltyBreaches).toEqual([]);
  expect(callsOf(harness)).toEqual(["post", "find", "find"]);
});

it.each([
  ["no doubt", null],
  ["a search by ids", '{"kind":"landing","afterId":3,"landsBy":1}'],
])("reads a lost post of an earlier release, and asks the policy: %s", async (_name, doubt) => {
  const world = createCrashWorld({ search: "keys" });
  const earlier = world.boot(0);
  world.platform.fault("post", { kind: "lose", done: true });
  earlier.delivery.send(startOf("r1"), TEXT);
  await earlier.advance(31);
  earlier.kill();
  world.database.run("UPDATE outbox_v1 SET doubt = ?", doubt);
  const later = world.boot(0);
  void later.delivery.run();
  await later.advance(60_000);
  expect(world.platform.visible("7")).toEqual([TEXT, `${MARK}\n${TEXT}`]);
  expect(later.delivery.receipt("r1")?.state).toBe("delivered");
});

it.each(KINDS)("searches again when the process dies during the search: %s", async (kind) => {
  const world = createCrashWorld({ search: kind });
  const earlier = world.boot(0);
  world.platform.fault("post", { kind: "lose", done: true });
  earlier.delivery.send(startOf("r1"), TEXT);
  await earlier.advance(45);
  earlier.kill();
  const later = world.boot(0);
  void later.delivery.run();
  await later.advance(1_000);
  expect(world.platform.visible("7")).toEqual([TEXT]);
  expect(later.delivery.receipt("r1")?.state).toBe("delivered");
});

it.each([
  ["**Hello** there", "*Hello* there\n"],
  ["- one\n- two", "• one\n• two"],
  ["a_b", "a\\_b"],
  ["👍", " 👍 "],
])("knows the words of %j in %j", (sent, shown) => {
  expect(wordsOf(shown)).toBe(wordsOf(sent));
});

it.each([
  ["You", "You said"],
  ["👍", "👎"],
  ["", "a"],
])("tells %j from %j", (left, right) => {
  expect(wordsOf(left)).not.toBe(wordsOf(right));
});
