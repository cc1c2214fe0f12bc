import { expect, it } from "vitest";
import type { Pacing } from "../../../src/core/chat/surface.ts";
import { createHarness } from "./engine-harness.ts";

const PRIVATE_CHAT: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

/** The buckets of a gate that just started hold two tokens; these tests begin when it has run for a while. */
const LATER_MS = 60_000;

it("always shows the newest text when an edit is allowed, never a queue of stale ones", async () => {
  const { surface, delivery, clock, start, visible } = createHarness({ surface: { pacing: PRIVATE_CHAT } });
  await clock.advance(LATER_MS);
  delivery.open(start("r1"));
  const words = Array.from({ length: 100 }, (_, index) => `word${index}`);
  for (const word of words) {
    delivery.append("r1", `${word} `);
    await clock.advance(100);
  }
  const during = surface.calls.length;
  // Ten seconds: the burst, and one call a second.
  expect(during).toBeLessThanOrEqual(13);
  for (const { text, method } of surface.calls) {
    if (method === "edit") expect(words.join(" ").startsWith(text ?? "-")).toBe(true);
  }
  delivery.finish("r1", `${words.join(" ")} end.`);
  await clock.advance(100);
  expect(visible()).toEqual([`${words.join(" ")} end.`]);
  expect(surface.calls.length).toBe(during + 1);
});

it("edits less often as a reply grows, but finishes each message and the reply at once", async () => {
  const { surface, delivery, clock, start, visible } = createHarness({ surface: { pacing: PRIVATE_CHAT } });
  await clock.advance(LATER_MS);
  const openedAt = clock.now();
  delivery.open(start("r1"));
  let text = "";
  for (let word = 0; word < 2_400; word += 1) {
    const delta = `${String(word).padStart(4, "0")}${word % 40 === 39 ? "\n\n" : " "}`;
    text += delta;
    delivery.append("r1", delta);
    await clock.advance(5);
  }
  expect(surface.calls.length, "calls for 12,000 characters in twelve seconds").toBeLessThanOrEqual(12);
  const times = surface.calls.map(({ at }) => at - openedAt);
  for (const [index, at] of times.slice(1).entries())
    expect(at - (times[index] ?? 0)).toBeLessThanOrEqual(5_200);
  expect(visible().length).toBeGreaterThanOrEqual(2);
  delivery.finish("r1", text);
  await clock.advance(100);
  expect(visible().join(" ").endsWith("2399")).toBe(true);
});

it("has a call for the final text at any moment of a stream", async () => {
  for (let stopAt = 0; stopAt < 40; stopAt += 1) {
    const { delivery, clock, start, visible } = createHarness({ surface: { pacing: PRIVATE_CHAT } });
    await clock.advance(LATER_MS);
    delivery.open(start("r1"));
    await clock.advance(300);
    for (let word = 0; word <= stopAt; word += 1) {
      delivery.append("r1", `word${word} `);
      await clock.advance(100);
    }
    delivery.finish("r1", "The end.");
    // A call that is under way, and the final one.
    await clock.advance(101);
    expect(visible()).toEqual(["The end."]);
  }
});

it("shows typing after a moment and again before it fades, until text is visible, and never after", async () => {
  const { surface, delivery, clock, start } = createHarness();
  await clock.advance(LATER_MS);
  delivery.open(start("r1"));
  await clock.advance(13_000);
  const typing = () => surface.calls.filter(({ method }) => method === "typing").map(({ at }) => at);
  const openedAt = clock.now() - 13_000;
  expect(typing().map((at) => at - openedAt)).toEqual([300, 4_300, 8_300, 12_300]);
  delivery.append("r1", "Text");
  await clock.advance(100);
  delivery.append("r1", " and more");
  await clock.advance(60_000);
  delivery.finish("r1", "Text and more.");
  await clock.advance(60_000);
  expect(typing()).toHaveLength(4);
});

it("stops typing after some minutes, and when the reply is withdrawn", async () => {
  const { surface, delivery, clock, start } = createHarness();
  const typing = () => surface.calls.filter(({ method }) => method === "typing").length;
  await clock.advance(LATER_MS);
  delivery.open(start("r1"));
  await clock.advance(60 * 60_000);
  expect(typing()).toBe(75);
  delivery.open(start("r2"));
  await clock.advance(5_000);
  delivery.withdraw("r2");
  const before = typing();
  await clock.advance(60_000);
  expect(typing()).toBe(before);
});

it("spends no call on typing for a reply that comes fast", async () => {
  const { surface, delivery, clock, start, visible } = createHarness();
  delivery.open(start("r1"));
  await clock.advance(290);
  delivery.append("r1", "Fast");
  await clock.advance(60_000);
  delivery.finish("r1", "Fast.");
  await clock.advance(60_000);
  expect(visible()).toEqual(["Fast."]);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "edit"]);
});

it("shows no typing if only the reserve is left", async () => {
  const { surface, delivery, clock, start, visible } = createHarness({ surface: { pacing: PRIVATE_CHAT } });
  // The bot has just started: of its two tokens one is for the notice.
  delivery.send(start("r0"), "Notice.");
  delivery.open(start("r1"));
  await clock.advance(350);
  expect(surface.calls).toHaveLength(1);
  delivery.append("r1", "Text");
  await clock.advance(50);
  expect(visible()).toEqual(["Notice.", "Text"]);
});

it("ignores failures of typing, and does not wait for one that hangs", async () => {
  const { surface, delivery, clock, start, visible } = createHarness();
  surface.faultAlways("typing", { kind: "hang" });
  delivery.open(start("r1"));
  await clock.advance(1_000);
  delivery.append("r1", "Text");
  await clock.advance(50);
  expect(visible()).toEqual(["Text"]);
});

it("answers a press of a button at once, also during a penalty, and never throws", async () => {
  const { surface, delivery, clock, gate, start, lines } = createHarness();
  const { address } = start("r1");
  await gate.penalize(address, 60_000);
  void delivery.answerAction(address, { id: "press-1" }, { text: "Done" });
  await clock.advance(50);
  expect(surface.calls).toMatchObject([{ method: "answer", messageId: "press-1", outcome: "done" }]);
  surface.fault("answer", { kind: "fail", failure: { kind: "rejected", code: "too-old" } });
  const answered = delivery.answerAction(address, { id: "press-2" });
  await clock.advance(50);
  await expect(answered).resolves.toBe(false);
  expect(lines).toHaveLength(1);
});

it("does no work for a streamed chunk while no call may be made", async () => {
  const { delivery, clock, start, surface } = createHarness({ policy: { editEveryMs: 10_000 } });
  delivery.open(start("r1"));
  delivery.append("r1", "Begin ");
  await clock.advance(100);
  const timersBefore = clock.nextTimerAt();
  const calls = surface.calls.length;
  for (let chunk = 0; chunk < 10_000; chunk += 1)
    delivery.append("r1", `chunk ${chunk} of a very long text\n\n`);
  await clock.settle();
  expect(clock.nextTimerAt()).toBe(timersBefore);
  expect(surface.calls.length).toBe(calls);
});
