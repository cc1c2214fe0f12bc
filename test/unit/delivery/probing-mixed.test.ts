import { describe, expect, it } from "vitest";
import { ADDRESS, MARK } from "./engine-harness.ts";
import { probed, TEXT } from "./probed-harness.ts";
import type { Probed } from "./probed-harness.ts";

describe("in a box of one chat", () => {
  const address = { ...ADDRESS, isDirectMessage: false };
  const group = (): Probed => probed({ surface: { probing: "own-box" }, policy: { callTimeoutMs: 15_000 } });

  it("stops at an id that nothing has", async () => {
    const { surface, delivery, start, advance, probes, visible } = group();
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { address }), TEXT);
    await advance(3_000);
    expect(probes()).toEqual(["101", "101"]);
    expect(visible()).toEqual([TEXT]);
    surface.postForeign("7", TEXT);
    await advance(30_000);
    expect(visible()).toEqual([TEXT]);
  });

  it("finds the lost message behind one that was deleted when it looked", async () => {
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

  it("goes on behind a message of somebody else", async () => {
    const { surface, delivery, start, advance, probes, visible } = group();
    surface.fault("post", { kind: "lose", done: true });
    surface.numberForOther();
    delivery.send(start("r1", { address }), TEXT);
    await advance(5_000);
    expect(probes()).toEqual(["101", "101", "102", "103"]);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "102", attempts: 1 }] });
  });

  it("does not stop at a gap that a newer message has left behind it", async () => {
    const { surface, delivery, start, advance, budget, visible } = group();
    for (let other = 0; other < 3; other += 1) surface.numberForOther();
    surface.fault("post", { kind: "lose", done: true });
    delivery.send(start("r1", { address }), TEXT);
    await budget.boxes?.observe("telegram", "7", [103]);
    await advance(5_000);
    expect(visible()).toEqual([TEXT]);
    expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "104", attempts: 1 }] });
  });
});

it("takes away what two lost posts have left when nobody can tell which is which, and says it anew", async () => {
  const { surface, delivery, start, visible, advance } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(4_000);
  expect(visible()).toEqual([TEXT]);
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r2"), "Next.");
  // The first post of the first reply lands after all, beside the second one's.
  surface.postForeign("7", TEXT);
  await advance(60_000);
  expect(visible()).toEqual([TEXT, "Next."]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
  expect(delivery.receipt("r2")?.state).toBe("delivered");
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
  expect(visible()).toEqual([TEXT, "Another program.", "Another program again.", `${MARK}\n${TEXT}`]);
});

it("finds a message at the beginning of a range that is too long to be asked about", async () => {
  const { surface, delivery, start, visible, advance, budget } = probed();
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1"), TEXT);
  await advance(100);
  for (let other = 0; other < 30; other += 1) surface.numberForOther();
  await budget.boxes?.observe("telegram", "common", [Number(surface.numberForOther())]);
  await advance(40_000);
  expect(visible()).toEqual([TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: "102", attempts: 1 }] });
});

it("does not adopt a lost message above one that it follows", async () => {
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
  // The model begins anew: the second message is not needed for a while, and comes again behind the third.
  delivery.replace("r1", "First");
  await advance(1_000);
  expect(visible()).toEqual(["First", expect.any(String)]);
  delivery.replace("r1", whole);
  delivery.finish("r1", whole);
  await advance(60_000);
  expect(visible()).toHaveLength(3);
  expect(visible().join(" ").split(/\s+/)).toEqual(whole.split(/\s+/));
});

it("takes away what landed late also in a chat that is never quiet", async () => {
  const { delivery, start, advance, surface, visible } = probed({ policy: { callTimeoutMs: 15_000 } });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), TEXT);
  await advance(5_000);
  surface.postForeign("7", TEXT);
  delivery.open(start("r2"));
  for (let second = 0; second < 40; second += 1) {
    delivery.append("r2", `Word ${second} `);
    await advance(1_000);
  }
  expect(visible()).toEqual([TEXT, expect.stringMatching(/^Word 0 /)]);
  expect(delivery.receipt("r1")?.state).toBe("delivered");
});
