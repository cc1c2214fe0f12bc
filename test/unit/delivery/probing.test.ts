import { expect, it } from "vitest";
import type { ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { ADDRESS, createHarness, MARK } from "./engine-harness.ts";
import { expectPaced } from "./paced.ts";
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

it("posts nothing under an id that a lost question may still reach", async () => {
  const { surface, delivery, start, advance } = probed();
  surface.fault("post", { kind: "lose", done: false });
  // The first look finds nothing, and the question after it takes effect long after its connection was cut.
  surface.fault("probe", undefined, { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  const lost = surface.calls.find(({ method, outcome }) => method === "probe" && outcome === "unknown");
  const posts = surface.calls.filter(({ method }) => method === "post");
  expect(posts).toHaveLength(2);
  expect((posts[1]?.at ?? 0) - (lost?.at ?? Infinity)).toBeGreaterThanOrEqual(3_000);
});

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

it.each([
  ["a private chat", {}],
  ["a group", { isDirectMessage: false }],
  ["a topic", { isDirectMessage: false, threadId: "telegram:7:5", topicId: "5" }],
])("goes on at once in %s when the lost message is where it is looked for first", async (_name, more) => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: true });
  delivery.open(start("r1", { address: { ...ADDRESS, ...more } }));
  delivery.append("r1", "One two");
  await advance(60);
  delivery.finish("r1", TEXT);
  await advance(500);
  expect(visible()).toEqual([TEXT]);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "probe", "edit"]);
});

it("checks once if the message is not there, and asks nothing more until the post can no longer land", async () => {
  const { surface, delivery, start, visible, advance, probes } = probed({
    policy: { callTimeoutMs: 15_000 },
  });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  delivery.send(start("r2"), "Next.");
  await advance(16_900);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "probe"]);
  expect(probes()).toEqual(["101"]);
  await advance(3_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 2 }] });
});

it("keeps editing visible messages while a post is in doubt", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(1_000);
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r2"), "A notice.");
  await advance(1_000);
  delivery.append("r1", " three");
  await advance(1_000);
  expect(visible()).toEqual(["One two three"]);
  delivery.finish("r1", TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT, "A notice."]);
});

it.each([5_000, 12_000, 16_900])(
  "finds what landed %d ms after its connection was cut, before what follows",
  async (landsAfterMs) => {
    const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1"), TEXT);
    delivery.send(start("r2"), "Next.");
    await advance(landsAfterMs);
    const late = surface.postForeign("7", TEXT);
    await advance(30_000);
    expect(visible()).toEqual([TEXT, "Next."]);
    expect(delivery.receipt("r1")).toMatchObject({
      state: "delivered",
      messages: [{ messageId: late, attempts: 1 }],
    });
  },
);

it("finds the message even if questions hang", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.fault("post", { kind: "hang" });
  surface.fault("probe", { kind: "hang" }, { kind: "hang" }, { kind: "lose", done: true }, { kind: "hang" });
  delivery.send(start("r1"), TEXT);
  await advance(2_000);
  const late = surface.postForeign("7", "One");
  await advance(60_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")?.messages).toMatchObject([{ messageId: late, attempts: 1 }]);
});

it("shows each of several replies once, whichever posts are lost, and in order", async () => {
  for (let made = 0; made < 16; made += 1) {
    const { surface, delivery, start, visible, advance } = probed();
    const faults = [1, 2, 4, 8].map((bit): Fault => ({ kind: "lose", done: (made & bit) !== 0 }));
    surface.fault("post", ...faults);
    const texts = ["One.", "Two.", "Three.", "Four."];
    for (const [index, text] of texts.entries()) delivery.send(start(`r${index}`), text);
    await advance(120_000);
    expect(visible(), `made: ${made.toString(2)}`).toEqual(texts);
  }
});

it("shows a reply once and unmarked however often its post is lost", async () => {
  for (const last of [true, false]) {
    const { surface, delivery, start, visible, advance } = probed();
    surface.fault("post", ...Array.from({ length: 8 }, () => ({ kind: "lose", done: false }) as const));
    surface.fault("post", { kind: "lose", done: last });
    delivery.send(start("r1"), TEXT);
    await advance(120_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({
      state: "delivered",
      messages: [{ attempts: last ? 9 : 10 }],
    });
  }
});

it("removes a late part that the text no longer needs", async () => {
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

it("asks about a few ids after the newest known one, except those with a known owner", async () => {
  const { surface, delivery, start, advance, root, probes } = probed();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(500);
  expect(probes()).toEqual(["101"]);
  const theirs = [surface.numberForOther(), surface.numberForOther()];
  expect(theirs).toEqual(["101", "102"]);
  root.noteIncoming("telegram", "common", true, theirs.map(Number));
  await advance(20_000);
  const asked = probes().slice(1);
  expect(asked.length).toBeGreaterThanOrEqual(2);
  expect(asked.length).toBeLessThanOrEqual(10);
  expect(asked).toEqual(asked.map((_, index) => `${103 + index}`));
});

it("does not ask about ids that become known during the search", async () => {
  const { surface, delivery, start, visible, advance, root, probes } = probed();
  surface.fault("post", { kind: "lose", done: true });
  for (let other = 0; other < 20; other += 1) surface.numberForOther();
  delivery.send(start("r1"), TEXT);
  root.noteIncoming("telegram", "common", true, [120]);
  await advance(3_100);
  const before = probes().length;
  expect(before).toBeGreaterThan(0);
  root.noteIncoming(
    "telegram",
    "common",
    true,
    Array.from({ length: 20 }, (_, index) => 101 + index),
  );
  await advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(probes().length).toBeLessThanOrEqual(before + 2);
  expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "121", attempts: 1 }] });
});

it("finds the lost message after one that the bot was not told of", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "102", attempts: 1 }] });
});

it("never takes another message of the chat for the lost one, and holds other posts until it is found", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  delivery.open(start("r1"));
  delivery.append("r1", "One");
  await advance(100);
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r2"), "A notice.");
  await advance(100);
  const topic = { ...ADDRESS, threadId: "telegram:7:2", topicId: "2" };
  delivery.send(start("r3", { address: topic }), "In a topic.");
  await advance(2_500);
  expect(visible()).toEqual(["One"]);
  await advance(20_000);
  delivery.finish("r1", TEXT);
  await advance(1_000);
  expect(visible()[0]).toBe(TEXT);
  expect(visible().slice(1).toSorted()).toEqual(["A notice.", "In a topic."]);
});

const UNRESOLVED: readonly [NonNullable<ReplyPolicy["onUnknown"]>, readonly string[], string][] = [
  ["resend-marked", [`${MARK}\n${TEXT}`], "delivered"],
  ["resend", [TEXT], "delivered"],
  ["leave", [], "failed"],
];

it.each(UNRESOLVED)("leaves it to the policy (%s) when the platform answers no question", async (...row) => {
  const [onUnknown, shown, state] = row;
  const { surface, delivery, start, visible, advance, lines } = probed({ policy: { onUnknown } });
  surface.fault("post", { kind: "lose", done: false });
  surface.faultAlways("probe", { kind: "fail", failure: { kind: "rejected", code: "bad-request" } });
  delivery.send(start("r1"), TEXT);
  delivery.send(start("r2"), "Next.");
  await advance(20_000);
  expect(visible()).toEqual([...shown, "Next."]);
  expect(delivery.receipt("r1")?.state).toBe(state);
  expect(lines.join()).toContain("probing-failed");
});

it.each(UNRESOLVED)(
  "leaves it to the policy (%s) when too many ids could be it",
  async (onUnknown, shown) => {
    const { surface, delivery, start, visible, advance, root, probes, lines } = probed({
      policy: { onUnknown },
    });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1"), TEXT);
    await advance(100);
    for (let other = 0; other < 90; other += 1) surface.numberForOther();
    root.noteIncoming("telegram", "common", true, [Number(surface.numberForOther())]);
    await advance(120_000);
    expect(visible()).toEqual(shown);
    // The look, and then each of the first sixty.
    expect(probes().slice(1)).toEqual(Array.from({ length: 60 }, (_, index) => `${101 + index}`));
    expect(lines.join()).toContain("range-too-long");
  },
);

it("asks about fewer in a group, which has twenty calls a minute", async () => {
  const { surface, delivery, start, advance, root, probes } = probed();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1", { address: { ...ADDRESS, isDirectMessage: false } }), TEXT);
  await advance(100);
  for (let other = 0; other < 60; other += 1) surface.numberForOther();
  root.noteIncoming("telegram", "common", true, [Number(surface.numberForOther())]);
  await advance(60_000);
  expect(probes().length).toBeLessThanOrEqual(1 + 15);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("does not take a message of an earlier search for the one that is lost next", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { onUnknown: "leave" } });
  surface.fault("post", { kind: "lose", done: true }, { kind: "lose", done: false });
  surface.fault(
    "probe",
    ...Array.from(
      { length: 2 },
      () =>
        ({
          kind: "fail",
          failure: { kind: "rejected", code: "bad-request" },
        }) as const,
    ),
  );
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  expect(delivery.receipt("r1")).toMatchObject({ state: "failed" });
  delivery.send(start("r2"), "Next.");
  await advance(20_000);
  // Nobody can tell which of the two was made: the policy leaves the second alone, too.
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r2")).toMatchObject({ state: "failed" });
});

it.each(UNRESOLVED)(
  "leaves it to the policy (%s) if the platform cannot be asked",
  async (onUnknown, shown) => {
    const { surface, delivery, start, visible, advance } = createHarness({ policy: { onUnknown } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1"), TEXT);
    await advance(20_000);
    expect(visible()).toEqual(shown);
  },
);

it("leaves it to the policy if no id is known to begin with", async () => {
  const { surface, delivery, start, visible, advance, probes } = probed();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { seenMessageId: undefined }), TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT, `${MARK}\n${TEXT}`]);
  expect(probes()).toEqual([]);
});

it("begins at the root's newest id if it is newer than the thread's", async () => {
  const { surface, delivery, start, visible, advance, root, probes } = probed();
  for (let other = 0; other < 50; other += 1) surface.numberForOther();
  root.noteIncoming("telegram", "common", true, [150]);
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(probes()[0]).toBe("151");
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

it("obeys a penalty of a probe whose message was taken over in the meantime", async () => {
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

it("removes a lost message that the text no longer needs", async () => {
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

it("asks at once only with the chat's saved calls, and takes no call from others", async () => {
  const group = { burst: 3, everyMs: 3_000 };
  const { surface, delivery, start, advance } = probed({
    surface: {
      pacing: { direct: { burst: 3, everyMs: 1_000 }, group, global: { burst: 30, everyMs: 33 } },
    },
  });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1", { address: { ...ADDRESS, isDirectMessage: false } }), TEXT);
  await advance(60_000);
  const timesOf = (isProbe: boolean): number[] =>
    surface.calls.filter(({ method }) => (method === "probe") === isProbe).map(({ at }) => at);
  expect(timesOf(true).length).toBeGreaterThanOrEqual(1 + 2);
  expectPaced(timesOf(false), group);
  expectPaced([...timesOf(true), ...timesOf(false)], { ...group, burst: group.burst + 8 });
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});
