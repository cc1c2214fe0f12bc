import { describe, expect, it } from "vitest";
import { ADDRESS } from "./engine-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";
import type { Probed } from "./probed-harness.ts";

describe("in a box of one chat", () => {
  const address = { ...ADDRESS, isDirectMessage: false };
  const group = (): Probed => probed({ surface: { probing: "own-box" }, policy: { callTimeoutMs: 15_000 } });

  it("stops where two ids in a row have no message", async () => {
    const { surface, delivery, start, advance, probes, visible } = group();
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { address }), TEXT);
    await advance(20_000);
    expect(probes()).toEqual(["101", "101", "102"]);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "101", attempts: 2 }] });
  });

  it("finds the lost message after one that was deleted during the search", async () => {
    const { surface, delivery, start, advance, visible } = group();
    const deleted = surface.postForeign("7", "Spam.");
    surface.fault("post", { kind: "lose", done: true });
    delivery.send(start("r1", { address }), TEXT);
    surface.deleteMessage("7", deleted);
    await advance(30_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")?.messages.filter(({ state }) => state === "sent")).toMatchObject([
      { messageId: "102" },
    ]);
  });

  it("continues after somebody else's message", async () => {
    const { surface, delivery, start, advance, probes, visible } = group();
    surface.fault("post", { kind: "lose", done: true });
    surface.numberForOther();
    delivery.send(start("r1", { address }), TEXT);
    await advance(20_000);
    expect(probes()).toEqual(["101", "101", "102"]);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "102", attempts: 1 }] });
  });

  it.each([1, 4, 5, 12, 14])(
    "finds the lost message behind %d of somebody else, of which the bot was not told",
    async (count) => {
      const { surface, delivery, start, advance, visible } = group();
      surface.fault("post", { kind: "lose", done: true });
      for (let other = 0; other < count; other += 1) surface.numberForOther();
      delivery.send(start("r1", { address }), TEXT);
      await advance(60_000);
      expect(visible()).toEqual([TEXT]);
      expect(delivery.receipt("r1")).toMatchObject({
        messages: [{ messageId: `${101 + count}`, attempts: 1 }],
      });
    },
  );

  it("does not stop at a gap below a newer message", async () => {
    const { surface, delivery, start, advance, root, visible } = group();
    for (let other = 0; other < 3; other += 1) surface.numberForOther();
    surface.fault("post", { kind: "lose", done: true });
    delivery.send(start("r1", { address }), TEXT);
    for (const gone of ["101", "102"]) surface.deleteMessage("7", gone);
    root.noteIncoming("telegram", "7", false, [103]);
    await advance(20_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "104", attempts: 1 }] });
  });
});

it("touches no more messages than were lost", async () => {
  const { surface, delivery, start, visible, advance } = probed();
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: { ...ADDRESS, isDirectMessage: false } }), TEXT);
  await advance(50);
  surface.postForeign("7", "Another program.");
  surface.postForeign("7", "Another program again.");
  await advance(60_000);
  expect(visible()).toEqual([TEXT, "Another program.", "Another program again."]);
});

it("finds a message at the beginning of a range that is too long to search", async () => {
  const { surface, delivery, start, visible, advance, root } = probed();
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(100);
  for (let other = 0; other < 60; other += 1) surface.numberForOther();
  root.noteIncoming("telegram", "common", true, [Number(surface.numberForOther())]);
  await advance(40_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "102", attempts: 1 }] });
});

it("does not adopt a lost message that is above the message before it", async () => {
  const texts = ["First", "Second", "Third"].map((name) => `${name} part. `.repeat(5).trim());
  const whole = texts.join("\n\n");
  const { surface, delivery, start, visible, advance } = probed({
    surface: { limits: { maxLength: 120, maxEntities: 100 } },
    policy: { callTimeoutMs: 15_000, editEveryMs: 100 },
  });
  delivery.open(start("r1"));
  delivery.append("r1", `${texts[0] ?? ""}\n\n${texts[1] ?? ""}`);
  await advance(1_000);
  surface.fault("post", { kind: "lose", done: true });
  for (let failures = 0; failures < 4; failures += 1) {
    surface.fault("probe", { kind: "fail", failure: { kind: "transient", code: "server-500" } });
  }
  delivery.append("r1", `\n\n${texts[2] ?? ""}`);
  await advance(2_500);
  expect(visible()).toHaveLength(3);
  // The model begins again: the second message is not needed for a while.
  delivery.replace("r1", "First");
  await advance(1_000);
  expect(visible().length).toBeGreaterThan(0);
  delivery.replace("r1", whole);
  delivery.finish("r1", whole);
  await advance(60_000);
  expect(visible()).toHaveLength(3);
  expect(visible().join(" ").split(/\s+/)).toEqual(whole.split(/\s+/));
});

it("finds a late message in a chat that is never quiet, without holding up the chat", async () => {
  const { delivery, start, advance, surface, visible } = probed({ policy: { callTimeoutMs: 15_000 } });
  delivery.open(start("r0"));
  delivery.append("r0", "Word ");
  await advance(1_000);
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(5_000);
  surface.postForeign("7", TEXT);
  for (let second = 0; second < 40; second += 1) {
    delivery.append("r0", `word ${second} `);
    await advance(1_000);
  }
  expect(visible()).toEqual([expect.stringMatching(/^Word word 0 .* word 38/), TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
});

it("finds a lost surplus message while another message cannot be edited", async () => {
  const { surface, delivery, start, visible, advance } = probed({
    surface: { limits: { maxLength: 60, maxEntities: 100 } },
    policy: { callTimeoutMs: 1_000 },
  });
  delivery.open(start("r1"));
  delivery.append("r1", "One two three.");
  await advance(1_000);
  surface.fault("post", { kind: "lose", done: false });
  delivery.append("r1", "\n\nFour five six seven eight nine ten eleven.\n\nTwelve.");
  await advance(1_000);
  // The answer becomes shorter, and its first message cannot be changed for a day.
  surface.faultAlways("edit", { kind: "fail", failure: { kind: "transient", code: "server-500" } });
  delivery.finish("r1", "Stopped.");
  delivery.send(start("r2"), "Next.");
  await advance(30 * 60_000);
  expect(visible().at(-1)).toBe("Next.");
  surface.faultAlways("edit", undefined);
  await advance(2 * 60_000);
  expect(visible()).toEqual(["Stopped.", "Next."]);
});
