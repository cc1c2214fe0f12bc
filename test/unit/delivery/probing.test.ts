import { expect, it } from "vitest";
import type { ReplyPolicy } from "../../../src/core/delivery.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { ADDRESS, createHarness, MARK } from "./engine-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";

const LOST: readonly [string, boolean][] = [
  ["had happened", true],
  ["had not", false],
];

it.each(LOST)(
  "shows a notice once and without a mark when its answer was lost and it %s",
  async (_name, done) => {
    const { surface, delivery, start, visible, advance } = probed();
    surface.fault("post", { kind: "lose", done });
    delivery.send(start("r1"), TEXT);
    await advance(20_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({
      state: "delivered",
      messages: [{ state: "sent", messageId: "101", attempts: done ? 1 : 2 }],
    });
  },
);

it.each(LOST)("goes on with a streaming reply whose first answer was lost and %s", async (_name, done) => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "lose", done });
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(1_000);
  delivery.append("r1", " three");
  await advance(5_000);
  expect(visible()).toEqual(["One two three"]);
  delivery.finish("r1", TEXT);
  await advance(1_000);
  expect(visible()).toEqual([TEXT]);
});

it("asks nothing in a topic before the lost post can no longer land, and holds what follows", async () => {
  const { surface, delivery, start, visible, advance, clock, budget } = probed();
  const address = { ...ADDRESS, isDirectMessage: false, topicId: "5" };
  const news = { box: "common", isPost: true, sentIds: [] };
  await budget.acquire({ ...address, threadId: "telegram:7:6", topicId: "6" }, "post", surface.pacing, {
    news,
  });
  surface.fault("post", { kind: "lose", done: false });
  const begunAt = clock.now();
  delivery.send(start("r1", { address }), TEXT);
  delivery.send(start("r2", { address }), "Next.");
  await advance(40_000);
  const [postedAt, probedAt] = ["post", "probe"].map(
    (name) => surface.calls.find(({ method }) => method === name)?.at ?? 0,
  );
  // The other topic does not say what became of its post: nobody waits for that for ever.
  expect((postedAt ?? 0) - begunAt).toBe(5_000);
  expect((probedAt ?? 0) - (postedAt ?? 0)).toBe(3_000);
  expect(visible()).toEqual([TEXT, "Next."]);
});

it("goes on at once in a private chat when the lost message is where it is looked for first", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: true });
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(60);
  delivery.finish("r1", TEXT);
  await advance(500);
  expect(visible()).toEqual([TEXT]);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "probe", "edit"]);
});

it("waits for two seconds in a private chat when it is not there, holds what follows, and posts anew", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  delivery.send(start("r2"), "Next.");
  await advance(1_900);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "probe"]);
  await advance(1_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r1")?.state).toBe("final");
  await advance(20_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 2 }] });
});

it.each([5_000, 12_000, 16_900])(
  "takes away what landed %d ms after its connection was cut, behind what followed",
  async (landsAfterMs) => {
    const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1"), TEXT);
    delivery.send(start("r2"), "Next.");
    await advance(landsAfterMs);
    surface.postForeign("7", TEXT);
    await advance(30_000);
    expect(visible()).toEqual([TEXT, "Next."]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it("takes away what landed late behind several messages that nobody has seen", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(6_000);
  for (let other = 0; other < 7; other += 1) surface.numberForOther();
  surface.postForeign("7", TEXT);
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
});

it("asks again about ids before the new message when the search took longer than the time limit", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false });
  surface.fault("probe", undefined, undefined, { kind: "hang" });
  delivery.send(start("r1"), TEXT);
  await advance(10_000);
  surface.postForeign("7", "One");
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
});

it("takes away a late part that the text has no use for any more", async () => {
  const { surface, delivery, start, visible, advance } = probed({
    surface: { limits: { maxLength: 60, maxEntities: 100 } },
    policy: { callTimeoutMs: 15_000 },
  });
  surface.fault("post", undefined, { kind: "lose", done: false });
  delivery.open(start("r1"));
  delivery.append("r1", "One two three.\n\nFour five six seven eight nine ten eleven.\n\nTwelve.");
  await advance(1_000);
  delivery.finish("r1", "Stopped.");
  await advance(5_000);
  expect(visible()).toEqual(["Stopped."]);
  surface.postForeign("7", "Four five six seven eight nine ten eleven.");
  await advance(30_000);
  expect(visible()).toEqual(["Stopped."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("keeps one of two messages when the second post is made and answered after the first was found", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 1_000 } });
  surface.fault("post", { kind: "lose", done: false }, { kind: "hang", answerAfterMs: 2_700 });
  delivery.send(start("r1"), TEXT);
  await advance(2_100);
  surface.postForeign("7", "One");
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
  const shown = surface.messages("7")[0]?.id;
  expect(delivery.receipt("r1")?.messages.find(({ part }) => part === 0)?.messageId).toBe(shown);
});

it("takes nothing away that may be another lost post's", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false }, undefined, { kind: "hang" });
  delivery.send(start("r1"), TEXT);
  await advance(10_000);
  delivery.send(start("r2"), "Next.");
  await advance(100);
  // The second reply's post is made; its answer never comes. The first looks for a late message meanwhile.
  surface.postForeign("7", "Next.");
  await advance(60_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r2")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
});

it("looks for a late message of its own when it may have adopted another's", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false }, undefined, { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(4_000);
  delivery.send(start("r2"), "Next.");
  await advance(500);
  surface.postForeign("7", TEXT);
  await advance(7_000);
  surface.postForeign("7", "Next.");
  await advance(60_000);
  expect(visible()).toEqual([TEXT, "Next."]);
});

it("finds what landed between the search and the new message, and keeps the one in the right place", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false }, { kind: "slow", latencyMs: 3_000 });
  delivery.send(start("r1"), TEXT);
  await advance(2_500);
  const late = surface.postForeign("7", "One");
  await advance(30_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")?.messages.find(({ part }) => part === 0)?.messageId).toBe(late);
});

it("finds a post that landed after its time limit", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "hang" });
  delivery.send(start("r1"), TEXT);
  await advance(2_000);
  const late = surface.postForeign("7", "One");
  await advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")?.messages).toMatchObject([{ messageId: late, attempts: 1 }]);
});

it("asks about a few ids after the newest that is known, and not about those that somebody has seen", async () => {
  const { surface, delivery, start, advance, budget, probes } = probed();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(500);
  expect(probes()).toEqual(["101"]);
  const theirs = [surface.numberForOther(), surface.numberForOther()];
  await budget.boxes?.observe("telegram", "common", theirs.map(Number));
  await advance(20_000);
  expect(theirs).toEqual(["101", "102"]);
  expect(probes().slice(1, 3)).toEqual(["103", "104"]);
});

it("never takes another message of the thread for the lost one", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  delivery.open(start("r1"));
  delivery.append("r1", "One");
  await advance(100);
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r2"), "A notice.");
  await advance(100);
  const other = start("r3").address;
  delivery.send(
    start("r3", { address: { ...other, threadId: "telegram:7:2", topicId: "2" } }),
    "In a topic.",
  );
  await advance(20_000);
  delivery.finish("r1", TEXT);
  await advance(1_000);
  expect(visible()).toEqual([TEXT, "In a topic.", "A notice."]);
});

const UNRESOLVED: readonly [NonNullable<ReplyPolicy["onUnknown"]>, readonly string[], string][] = [
  ["resend-marked", [`${MARK}\n${TEXT}`], "delivered"],
  ["resend", [TEXT], "delivered"],
  ["leave", [], "failed"],
];

it.each(UNRESOLVED)(
  "leaves it to the policy (%s) when several messages could be it",
  async (onUnknown, shown, state) => {
    const { surface, delivery, start, visible, advance, lines } = probed({ policy: { onUnknown } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1"), TEXT);
    await advance(100);
    surface.postForeign("7", "Not ours.");
    surface.postForeign("7", "Nor this.");
    await advance(20_000);
    expect(visible()).toEqual(["Not ours.", "Nor this.", ...shown]);
    expect(delivery.receipt("r1")?.state).toBe(state);
    expect(lines.join()).toContain("several-messages");
  },
);

it.each(UNRESOLVED)("leaves it to the policy (%s) when the range is too long", async (onUnknown, shown) => {
  const { surface, delivery, start, visible, advance, budget, probes } = probed({ policy: { onUnknown } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(100);
  for (let other = 0; other < 30; other += 1) surface.numberForOther();
  await budget.boxes?.observe("telegram", "common", [Number(surface.numberForOther())]);
  await advance(20_000);
  expect(visible()).toEqual(shown);
  // It would most likely be among the first.
  expect(probes()).toEqual(["101", "101", "102", "103", "104", "105", "106", "107"]);
});

it("waits for news of what others have sent before it calls a range too long", async () => {
  const { surface, delivery, start, visible, advance, budget } = probed();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(100);
  const theirs = Array.from({ length: 30 }, () => Number(surface.numberForOther()));
  // The post that is made anew is the thirty-first of the box; the others are told of after it.
  await advance(3_000);
  expect(visible()).toEqual([TEXT]);
  await budget.boxes?.observe("telegram", "common", theirs);
  await advance(40_000);
  expect(visible()).toEqual([TEXT]);
});

it.each(UNRESOLVED)("leaves it to the policy (%s) where nothing can be probed", async (onUnknown, shown) => {
  const { surface, delivery, start, visible, advance } = createHarness({ policy: { onUnknown } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  expect(visible()).toEqual(shown);
});

it("leaves it to the policy when nobody knows where to begin", async () => {
  const { surface, delivery, start, visible, advance, probes } = probed();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { seenMessageId: undefined }), TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT, `${MARK}\n${TEXT}`]);
  expect(probes()).toEqual([]);
});

it("begins where the root knows more than the thread", async () => {
  const { surface, delivery, start, visible, advance, budget, probes } = probed();
  for (let other = 0; other < 50; other += 1) surface.numberForOther();
  await budget.boxes?.observe("telegram", "common", [150]);
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(probes()[0]).toBe("151");
});

it("does not take a message of another thread of the chat for its own", async () => {
  const { surface, delivery, start, visible, advance, budget } = probed();
  const topic = { ...ADDRESS, threadId: "telegram:7:1", topicId: "1", isDirectMessage: false };
  const other = { ...topic, threadId: "telegram:7:2", topicId: "2" };
  // It was granted a post, and has not told the id.
  const news = { box: "common", isPost: true, sentIds: [] };
  await budget.acquire(other, "post", surface.pacing, { news });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1", { address: topic }), TEXT);
  await advance(5_000);
  surface.postForeign("7", "In another topic.");
  await advance(20_000);
  expect(visible()).toEqual(["In another topic.", `${MARK}\n${TEXT}`]);
});

it("takes away the repetition when the id of it shows that the lost message was there", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  // Somebody else's messages, of which nobody was told.
  for (let other = 0; other < 12; other += 1) surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(40_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered" });
  expect(surface.messages("7")[0]?.id).toBe("113");
});

it("finds both messages of a post that was lost twice, and keeps the first", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  for (let other = 0; other < 5; other += 1) surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true }, { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
  expect(surface.messages("7")[0]?.id).toBe("106");
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("marks the repetition when its id shows that too much was unseen", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(100);
  for (let other = 0; other < 40; other += 1) surface.numberForOther();
  await advance(40_000);
  expect(visible()).toEqual([`${MARK}\n${TEXT}`]);
});

const PROBE_FAULTS: readonly [string, readonly Fault[], readonly string[]][] = [
  [
    "is refused for pacing",
    [{ kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 30_000 } }],
    [TEXT],
  ],
  [
    "fails twice",
    [
      { kind: "lose", done: true },
      { kind: "fail", failure: { kind: "transient", code: "502" } },
    ],
    [TEXT],
  ],
  [
    "is not understood",
    [
      { kind: "fail", failure: { kind: "rejected", code: "bad-request" } },
      { kind: "fail", failure: { kind: "rejected", code: "bad-request" } },
    ],
    [TEXT, `${MARK}\n${TEXT}`],
  ],
];

it.each(PROBE_FAULTS)("copes with a probe that %s", async (_name, faults, expected) => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "lose", done: true });
  surface.fault("probe", ...faults);
  delivery.send(start("r1"), TEXT);
  await advance(60_000);
  expect(visible()).toEqual(expected);
  expect(surface.penaltyBreaches).toEqual([]);
});

it("keeps to a penalty that a probe has met whose message became another reply's meanwhile", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  const failure = { kind: "retry-after", code: "too-many-requests", retryAfterMs: 20_000 } as const;
  surface.fault("post", { kind: "lose", done: true });
  surface.fault("probe", { kind: "fail", failure });
  delivery.open(start("r1"));
  delivery.append("r1", TEXT);
  const isProbing = (): boolean => surface.calls.some(({ method }) => method === "probe");
  for (let waited = 0; waited < 1_000 && !isProbing(); waited += 1) await advance(10);
  expect(surface.calls.at(-1)).toMatchObject({ method: "probe", outcome: "pending" });
  delivery.open(start("r2", { takesOver: "r1" }));
  delivery.finish("r2", "Another text.");
  await advance(60_000);
  expect(surface.penaltyBreaches).toEqual([]);
  expect(visible()).toEqual(["Another text."]);
});

it("removes a lost message that the text has no use for any more", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "lose", done: true });
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(200);
  delivery.finish("r1", "");
  await advance(20_000);
  expect(visible()).toEqual([]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("asks under the chat's budget", async () => {
  const { surface, delivery, start, advance } = probed({
    surface: {
      pacing: {
        direct: { burst: 3, everyMs: 1_000 },
        group: { burst: 3, everyMs: 3_000 },
        global: { burst: 30, everyMs: 33 },
      },
    },
  });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1", { address: { ...ADDRESS, isDirectMessage: false } }), TEXT);
  await advance(60_000);
  const times = surface.calls.map(({ at }) => at);
  expect(times.length).toBe(7);
  for (const [index, at] of times.entries()) {
    const inWindow = times.filter((other) => other >= at && other <= at + 15_000).length;
    expect(inWindow, `call ${index}`).toBeLessThanOrEqual(8);
  }
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("asks about four ids in a group that is one thread's own, two seconds after the loss", async () => {
  const { surface, delivery, start, advance, probes, visible } = probed({
    policy: { callTimeoutMs: 15_000 },
  });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1", { address: { ...ADDRESS, isDirectMessage: false } }), TEXT);
  await advance(3_000);
  expect(probes()).toEqual(["101", "101", "102", "103", "104"]);
  expect(visible()).toEqual([TEXT]);
  surface.postForeign("7", TEXT);
  await advance(30_000);
  expect(visible()).toEqual([TEXT]);
});
