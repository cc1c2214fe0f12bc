import { expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import { gateWith } from "../../support/chat-gates.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { createHarness, expectedMessages, MARK } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const HOUR_MS = 3_600_000;

const fail = (kind: Exclude<CallFailure["kind"], "retry-after" | "moved">): Fault => ({
  kind: "fail",
  failure: { kind, code: `${kind}-code` },
});
const floodFor = (retryAfterMs: number): Fault => ({
  kind: "fail",
  failure: { kind: "retry-after", code: "429", retryAfterMs },
});

/** Streams the text in two steps, a second apart, and finishes it with the rest. */
async function stream({ delivery, advance, start }: Harness, id = "r1", text = TEXT): Promise<void> {
  delivery.open(start(id));
  for (const piece of [text.slice(0, 4), text.slice(4, 10)]) {
    delivery.append(id, piece);
    await advance(1_000);
  }
  delivery.finish(id, text);
}

/** Which of the reply's calls is refused: the first post, an edit in the middle, the last edit. */
const FLOODS: readonly [string, "post" | "edit", number][] = [
  ["the first call", "post", 0],
  ["an edit in the middle", "edit", 0],
  ["the last call", "edit", 1],
];

it.each(FLOODS)(
  "sends nothing during a penalty that meets %s, and loses nothing",
  async (_name, method, skip) => {
    const harness = createHarness({ surface: { typingLastsMs: HOUR_MS } });
    const { surface, delivery, visible } = harness;
    surface.fault(method, ...Array.from({ length: skip }, () => undefined), floodFor(30_000));
    await stream(harness);
    await harness.advance(60_000);
    expect(surface.penaltyBreaches).toEqual([]);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  },
);

it.each([
  ["edit", "missing"],
  ["edit", "rejected"],
  ["buffered", "missing"],
  ["final-only", "missing"],
] as const)("answers without a quote when the quoted message is gone (%s, %s)", async (mode, kind) => {
  const harness = createHarness({ policy: { mode } });
  const { surface, delivery, start, visible } = harness;
  const post = surface.post.bind(surface);
  const posted: (string | undefined)[] = [];
  surface.post = (address, message, options) => {
    posted.push(message.replyTo);
    if (message.replyTo !== undefined) surface.fault("post", fail(kind));
    return post(address, message, options);
  };
  delivery.open(start("r1", { replyTo: "7" }));
  delivery.append("r1", "**One** two three.");
  await harness.advance(1_000);
  delivery.finish("r1", "**One** two three. Four.");
  await harness.advance(5_000);
  expect(visible()).toEqual(["One two three. Four."]);
  expect(posted[0]).toBe("7");
  expect(posted.at(-1)).toBeUndefined();
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("waits for a penalty of hours with its durable wake-up, without a timer", async () => {
  const harness = createHarness({ surface: { capabilities: { typing: false } } });
  const { surface, delivery, clock, start, visible, wakeAt } = harness;
  surface.fault("post", floodFor(5 * HOUR_MS));
  delivery.send(start("r1"), TEXT);
  await clock.advance(10_000);
  expect(clock.nextTimerAt()).toBeUndefined();
  expect(wakeAt()).toBe(clock.now() - 10_000 + 50 + 5 * HOUR_MS);
  await harness.advance(5 * HOUR_MS);
  expect(surface.penaltyBreaches).toEqual([]);
  expect(visible()).toEqual([TEXT]);
  expect(wakeAt()).toBeUndefined();
});

it("keeps its wake-up time when it is checked during a penalty of hours", async () => {
  const { advance, clock, delivery, start, surface } = createHarness();
  const failure = { kind: "retry-after", code: "too-many-requests", retryAfterMs: 3 * 3_600_000 } as const;
  surface.fault("post", { kind: "fail", failure });
  delivery.send(start("r1"), "Hello.");
  await advance(10_000);
  const end = delivery.nextWakeAt();
  expect(end).toBeGreaterThan(clock.now() + 2.9 * 3_600_000);
  // The object is woken for something else, and asks at once when it must be woken next.
  const done = delivery.run();
  expect(delivery.nextWakeAt()).toBe(end);
  await done;
  expect(delivery.nextWakeAt()).toBe(end);
  await advance(3 * 3_600_000);
  expect(surface.visible("7")).toEqual(["Hello."]);
});

it("obeys a penalty that cannot be reported to the gate", async () => {
  const harness = createHarness({
    gate: (real) => gateWith(real, { penalize: () => Promise.reject(new Error("down")) }),
  });
  const { surface, delivery, start, visible } = harness;
  surface.fault("post", floodFor(30_000));
  delivery.send(start("r1"), TEXT);
  await harness.advance(29_000);
  expect(surface.penaltyBreaches).toEqual([]);
  expect(visible()).toEqual([]);
  await harness.advance(2_000);
  expect(visible()).toEqual([TEXT]);
});

it("obeys such a penalty of an interim edit, too", async () => {
  const harness = createHarness({
    gate: (real) => gateWith(real, { penalize: () => Promise.reject(new Error("down")) }),
    surface: { capabilities: { typing: false } },
  });
  const { surface, delivery } = harness;
  surface.fault("edit", floodFor(30_000));
  await stream(harness);
  delivery.send(harness.start("r2"), "Notice.");
  await harness.advance(60_000);
  expect(surface.penaltyBreaches).toEqual([]);
  expect(harness.visible()).toEqual([TEXT, "Notice."]);
});

it.each([
  ["refuses", () => Promise.reject(new Error("down"))],
  ["never answers", () => new Promise<never>(() => {})],
])("waits for a gate that %s", async (_name, down) => {
  let isDown = true;
  const harness = createHarness({
    gate: (real) => gateWith(real, { acquire: (request) => (isDown ? down() : real.acquire(request)) }),
  });
  const { surface, delivery, start, visible } = harness;
  delivery.send(start("r1"), TEXT);
  await harness.advance(60_000);
  expect(surface.calls).toEqual([]);
  isDown = false;
  await harness.advance(11_000);
  expect(visible()).toEqual([TEXT]);
});

it("repeats a call that provably failed, on the first and on the last call", async () => {
  const harness = createHarness();
  const { surface, delivery, visible } = harness;
  surface.fault("post", fail("transient"), fail("transient"));
  await stream(harness);
  surface.fault("edit", fail("transient"), fail("transient"));
  await harness.advance(20_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "delivered",
    messages: [{ attempts: 5 }],
  });
});

it("gives up after a day of failures, with a code, and continues with the next reply", async () => {
  const harness = createHarness();
  const { surface, delivery, start, visible } = harness;
  surface.faultAlways("post", fail("transient"));
  delivery.send(start("r1"), TEXT);
  await harness.advance(25 * HOUR_MS);
  surface.faultAlways("post", undefined);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "failed",
    messages: [{ state: "failed", code: "transient-code" }],
  });
  delivery.send(start("r2"), "Next.");
  await harness.advance(1_000);
  expect(visible()).toEqual(["Next."]);
});

it.each([
  ["it had happened", true, [TEXT, `${MARK}\n${TEXT}`]],
  ["it had not", false, [`${MARK}\n${TEXT}`]],
])("sends a post of unknown outcome again once, marked, where %s", async (_name, done, expected) => {
  const harness = createHarness();
  const { surface, delivery, start, visible } = harness;
  surface.fault("post", { kind: "lose", done });
  delivery.send(start("r1"), TEXT);
  await harness.advance(10_000);
  expect(visible()).toEqual(expected);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 2 }] });
});

it("keeps the mark and the place of the entities when a marked message is edited", async () => {
  const harness = createHarness();
  const { surface, delivery, start } = harness;
  surface.fault("post", { kind: "lose", done: false });
  delivery.open(start("r1", { policy: { resentMark: "(again)" } }));
  delivery.append("r1", "It is **very");
  await harness.advance(5_000);
  delivery.finish("r1", "It is **very** late.");
  await harness.advance(5_000);
  expect(surface.messages("7")).toMatchObject([
    {
      text: "(again)\nIt is very late.",
      entities: [{ type: "bold", offset: "(again)\nIt is ".length, length: 4 }],
    },
  ]);
});

it("leaves a row alone that was in doubt three times, and shows the reply's other parts", async () => {
  const limits = { maxLength: 200, maxEntities: 100 };
  const harness = createHarness({ surface: { limits } });
  const { surface, delivery, start, visible } = harness;
  const text = Array.from({ length: 6 }, (_, index) => `Paragraph ${index} has some words in it.`).join(
    "\n\n",
  );
  const expected = expectedMessages(text, limits);
  surface.fault("post", ...Array.from({ length: 3 }, (): Fault => ({ kind: "lose", done: false })));
  delivery.send(start("r1"), text);
  delivery.send(start("r2"), "Next.");
  await harness.advance(20_000);
  expect(expected.length).toBeGreaterThan(1);
  expect(visible()).toEqual([...expected.slice(1), "Next."]);
  expect(delivery.receipt("r1")?.state).toBe("failed");
  expect(delivery.receipt("r1")?.messages[0]).toMatchObject({
    state: "unknown",
    code: "connection-cut",
    attempts: 3,
  });
});

it("does not let a call that hangs block the chat's next reply", async () => {
  const harness = createHarness({ policy: { callTimeoutMs: 1_000 } });
  const { surface, delivery, start, visible } = harness;
  surface.fault("post", { kind: "hang" }, { kind: "hang" }, { kind: "hang" });
  delivery.send(start("r1"), TEXT);
  delivery.send(start("r2"), "Next.");
  await harness.advance(15_000);
  expect(visible()).toEqual(["Next."]);
  expect(delivery.receipt("r1")?.messages[0]).toMatchObject({ state: "unknown", code: "timed-out" });
});

it("repeats an edit that hangs", async () => {
  const harness = createHarness({ policy: { callTimeoutMs: 1_000 } });
  const { surface, delivery, visible } = harness;
  surface.fault("edit", undefined, { kind: "hang" });
  await stream(harness);
  await harness.advance(10_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("does not take a message for unchanged when the answer to an edit was lost", async () => {
  const { surface, delivery, start, visible, advance } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "One");
  await advance(1_000);
  surface.fault("edit", { kind: "lose", done: true });
  delivery.replace("r1", "Two");
  await advance(100);
  expect(visible()).toEqual(["Two"]);
  delivery.finish("r1", "One");
  await advance(1_000);
  expect(visible()).toEqual(["One"]);
});

it("restores the final text when an abandoned edit lands on it late", async () => {
  const harness = createHarness({ policy: { callTimeoutMs: 1_000 } });
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("edit", { kind: "lose", done: false });
  delivery.open(start("r1"));
  delivery.append("r1", "One");
  await advance(1_000);
  delivery.append("r1", " two");
  await advance(200);
  delivery.finish("r1", TEXT);
  await advance(600);
  expect(visible()).toEqual([TEXT]);
  // The request was still on its way through the platform.
  const [message] = surface.messages("7");
  if (message !== undefined) message.text = "One two";
  delivery.send(start("r2"), "Next.");
  await advance(200);
  expect(visible(), "the next reply does not wait").toEqual(["One two", "Next."]);
  await advance(2_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("falls back to plain text where the entities are refused, for that part alone", async () => {
  const harness = createHarness({ surface: { limits: { maxLength: 200, maxEntities: 100 } } });
  const { surface, delivery, start } = harness;
  surface.fault("post", fail("rejected"));
  const text = `${"Some **bold** words here. ".repeat(7)}\n\nAnd **more** of them.`;
  delivery.send(start("r1"), text);
  await harness.advance(5_000);
  const messages = surface.messages("7");
  expect(messages[0]?.entities).toEqual([]);
  expect(messages[1]?.entities.length).toBeGreaterThan(0);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("fails a part that is refused as plain text too, and continues with the next", async () => {
  const harness = createHarness({ surface: { limits: { maxLength: 200, maxEntities: 100 } } });
  const { surface, delivery, start, visible } = harness;
  surface.fault("post", fail("rejected"), fail("rejected"));
  delivery.send(start("r1"), `${"Some **bold** words here. ".repeat(7)}\n\nAnd more of them.`);
  await harness.advance(5_000);
  expect(visible()).toHaveLength(1);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "failed",
    messages: [{ state: "failed", code: "rejected-code" }, { state: "sent" }],
  });
});

it("posts a text again if its last edit is refused, and removes the half message", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible } = harness;
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(1_000);
  surface.fault("edit", fail("rejected"), fail("rejected"));
  delivery.finish("r1", "One two **three**.");
  await advance(5_000);
  expect(visible()).toEqual(["One two three."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("leaves the visible part of a text that is refused as an edit and as a message", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible } = harness;
  delivery.open(start("r1"));
  delivery.append("r1", "One two");
  await advance(1_000);
  surface.fault("edit", fail("rejected"));
  surface.fault("post", fail("rejected"));
  delivery.finish("r1", "One two three.");
  await advance(5_000);
  expect(visible()).toEqual(["One two"]);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "failed",
    code: "rejected-code",
    messages: [{ part: 0, state: "failed" }],
  });
});

it("waits for more text if an interim edit is refused", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible } = harness;
  surface.fault("post", fail("rejected"));
  delivery.open(start("r1"));
  delivery.append("r1", "Odd");
  await advance(5_000);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
  delivery.append("r1", " no more");
  await advance(2_000);
  expect(visible()).toEqual(["Odd no more"]);
  delivery.finish("r1", "Odd no more.");
  await advance(2_000);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("ends all replies of a chat that is gone, until the person comes back", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible, ended, gone } = harness;
  surface.fault("post", fail("gone"));
  delivery.open(start("r1"));
  delivery.append("r1", "Hello");
  delivery.send(start("r2"), "Queued.");
  await advance(1_000);
  delivery.send(start("r3"), "Later.");
  await advance(HOUR_MS);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
  expect(ended).toEqual([
    ["r1", "gone"],
    ["r2", "gone"],
    ["r3", "gone"],
  ]);
  expect(gone).toEqual([["7", "gone-code"]]);
  expect(await delivery.settled("r3")).toBe("gone");
  expect(harness.wakeAt()).toBeUndefined();
  delivery.revive("7");
  delivery.send(start("r4"), "Back.");
  await advance(1_000);
  expect(visible()).toEqual(["Back."]);
});

it("does not repost a whole message that a person deleted", async () => {
  const limits = { maxLength: 200, maxEntities: 100 };
  const harness = createHarness({ surface: { limits } });
  const { surface, delivery, start, advance, visible } = harness;
  const text = Array.from({ length: 6 }, (_, index) => `Paragraph ${index} has some words in it.`).join(
    "\n\n",
  );
  delivery.open(start("r1"));
  delivery.append("r1", text);
  await advance(3_000);
  const [first] = surface.messages("7");
  surface.deleteMessage("7", first?.id ?? "");
  delivery.finish("r1", `${text} And the end.`);
  await advance(3_000);
  expect(visible()).toEqual(expectedMessages(`${text} And the end.`, limits).slice(1));
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});

it("posts a message again, once, if a person deleted it while it grew", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible } = harness;
  delivery.open(start("r1"));
  for (const piece of ["One", " two", " three"]) {
    delivery.append("r1", piece);
    await advance(1_000);
    surface.deleteMessage("7", surface.messages("7")[0]?.id ?? "");
  }
  delivery.finish("r1", "One two three four");
  await advance(2_000);
  expect(visible()).toEqual([]);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(2);
  expect(delivery.receipt("r1")).toMatchObject({
    state: "delivered",
    messages: [
      { part: -1, state: "removed" },
      { part: 0, state: "removed", code: "not-found" },
    ],
  });
});

it.each(["while it grows", "at its end"])(
  "takes a message away that the platform says is gone %s, when it was there all the same",
  async (moment) => {
    const harness = createHarness();
    const { surface, delivery, start, advance, visible } = harness;
    delivery.open(start("r1"));
    delivery.append("r1", "One");
    await advance(1_000);
    surface.fault("edit", fail("missing"));
    if (moment === "while it grows") {
      delivery.append("r1", " two three");
      await advance(5_000);
      expect(visible()).toEqual(["One two three"]);
    }
    delivery.finish("r1", "One two three four");
    await advance(5_000);
    expect(visible()).toEqual(["One two three four"]);
    expect(delivery.receipt("r1")).toMatchObject({
      state: "delivered",
      messages: [
        { part: -1, state: "removed" },
        { part: 0, state: "sent" },
      ],
    });
  },
);

it("retries slowly where the token is wrong, and tells the owner once", async () => {
  const harness = createHarness();
  const { surface, delivery, start, advance, visible, lines, clock } = harness;
  surface.faultAlways("post", fail("misconfigured"));
  delivery.send(start("r1"), TEXT);
  await advance(10 * 60_000);
  const posts = surface.calls.filter(({ method }) => method === "post");
  expect(posts.length).toBeLessThanOrEqual(16);
  expect(posts.filter(({ at }) => at > clock.now() - 5 * 60_000).length).toBeLessThanOrEqual(5);
  expect(lines.filter((line) => line.includes("delivery.misconfigured"))).toHaveLength(1);
  surface.faultAlways("post", undefined);
  await advance(2 * 60_000);
  expect(visible()).toEqual([TEXT]);
});

it("logs each failed call in one line without any text of the message", async () => {
  const harness = createHarness();
  const { surface, lines } = harness;
  surface.fault("post", fail("transient"), { kind: "lose", done: true });
  await stream(harness);
  await harness.advance(20_000);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: "delivery.call-failed", method: "post", kind: "transient", code: "transient-code", attempts: 1 },
    { event: "delivery.call-failed", method: "post", kind: "unknown", code: "connection-cut", attempts: 2 },
    { event: "delivery.ended", state: "delivered" },
  ]);
  expect(lines.join("\n")).not.toMatch(/two|three/);
});
