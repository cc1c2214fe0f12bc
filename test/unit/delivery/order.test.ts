import { expect, it } from "vitest";
import type { Address } from "../../../src/core/chat/surface.ts";
import { createDelivery } from "../../../delivery/index.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, createHarness, depsOn, expectedMessages, SPEAKER } from "./engine-harness.ts";

const OTHER: Address = { ...ADDRESS, threadId: "telegram:8", chatId: "8" };

const FLOOD = {
  kind: "fail",
  failure: { kind: "retry-after", code: "429", retryAfterMs: 20_000 },
} as const;

it("shows the replies of an address in the order in which they were opened", async () => {
  const { delivery, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.open(start("r2"));
  delivery.finish("r2", "Second.");
  await advance(5_000);
  expect(visible()).toEqual([]);
  delivery.finish("r1", "First.");
  await advance(5_000);
  expect(visible()).toEqual(["First.", "Second."]);
});

it("does not hold a later reply for one whose turn never comes back", async () => {
  const { delivery, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "Half of");
  await advance(60_000);
  delivery.open(start("r2"));
  delivery.finish("r2", "Second.");
  await advance(8 * 60_000);
  expect(visible()).toEqual(["Half of"]);
  await advance(61_000);
  expect(visible()).toEqual(["Half of", "Second."]);
  delivery.finish("r1", "Half of it, and the rest.");
  await advance(1_000);
  expect(visible()).toEqual(["Half of it, and the rest.", "Second."]);
});

it("shows a notice while a reply streams, and continues the reply in its own message", async () => {
  const { delivery, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "It begins");
  await advance(1_000);
  delivery.send(start("help"), "Commands: /stop");
  await advance(1_000);
  expect(visible()).toEqual(["It begins", "Commands: /stop"]);
  delivery.finish("r1", "It begins and ends.");
  await advance(1_000);
  expect(visible()).toEqual(["It begins and ends.", "Commands: /stop"]);
});

it("keeps a notice behind a reply that is whole and waits", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  surface.fault("post", FLOOD);
  delivery.open(start("r1"));
  delivery.finish("r1", "First.");
  delivery.send(start("r2"), "Second.");
  await advance(10_000);
  expect(visible()).toEqual([]);
  await advance(15_000);
  expect(visible()).toEqual(["First.", "Second."]);
});

it.each(["unknown", "transient", "misconfigured"] as const)(
  "goes on with later replies while a message that is there cannot be brought up to date (%s)",
  async (kind) => {
    const { surface, delivery, advance, start, visible } = createHarness();
    delivery.open(start("r1"));
    delivery.append("r1", "First");
    await advance(1_000);
    surface.faultAlways("edit", { kind: "fail", failure: { kind, code: kind } });
    delivery.finish("r1", "First, and whole.");
    delivery.send(start("r2"), "Second.");
    await advance(9 * 60_000);
    expect(visible(), "the platform may be in trouble").toEqual(["First"]);
    await advance(3 * 60_000);
    expect(visible()).toEqual(["First", "Second."]);
    surface.faultAlways("edit", undefined);
    await advance(61_000);
    expect(visible()).toEqual(["First, and whole.", "Second."]);
    expect(delivery.nextWakeAt()).toBeUndefined();
  },
);

it.each(["transient", "misconfigured"] as const)(
  "goes on with later replies when only one of them cannot be posted (%s)",
  async (kind) => {
    const { surface, delivery, advance, start, visible } = createHarness();
    surface.faultAlways("post", { kind: "fail", failure: { kind, code: kind } }, ({ text }) =>
      /First|Third/.test(text ?? ""),
    );
    delivery.send(start("r1"), "First.");
    delivery.send(start("r2"), "Second.");
    await advance(9 * 60_000);
    expect(visible(), "the platform may be in trouble").toEqual([]);
    await advance(4 * 60_000);
    expect(visible()).toEqual(["Second."]);
    delivery.send(start("r3"), "Third.");
    delivery.send(start("r4"), "Fourth.");
    await advance(40 * 60_000);
    expect(visible()).toEqual(["Second.", "Fourth."]);
    surface.faultAlways("post", undefined);
    await advance(3 * 60_000);
    expect(visible()).toEqual(["Second.", "Fourth.", "First.", "Third."]);
    expect(delivery.nextWakeAt()).toBeUndefined();
  },
);

it("keeps the order of replies over an hour in which nothing can be posted", async () => {
  const { surface, delivery, advance, start, visible } = createHarness();
  surface.faultAlways("post", { kind: "fail", failure: { kind: "transient", code: "server-error" } });
  for (const number of [1, 2, 3, 4]) delivery.send(start(`r${number}`), `Reply ${number}.`);
  await advance(60 * 60_000);
  expect(visible()).toEqual([]);
  surface.faultAlways("post", undefined);
  await advance(3 * 60_000);
  expect(visible()).toEqual(["Reply 1.", "Reply 2.", "Reply 3.", "Reply 4."]);
});

it("continues with later messages, in order, after one that cannot be edited", async () => {
  const limits = { maxLength: 200, maxEntities: 100 };
  const { surface, delivery, advance, start, visible } = createHarness({ surface: { limits } });
  const text = Array.from({ length: 6 }, (_, index) => `Paragraph ${index} has some words in it.`).join(
    "\n\n",
  );
  delivery.open(start("r1"));
  delivery.append("r1", text.slice(0, 20));
  await advance(1_000);
  surface.faultAlways("edit", { kind: "fail", failure: { kind: "unknown", code: "unknown" } });
  delivery.finish("r1", text);
  delivery.send(start("r2"), "Second.");
  await advance(12 * 60_000);
  expect(visible().slice(1), "only the first one waits").toEqual([
    ...expectedMessages(text, limits).slice(1),
    "Second.",
  ]);
  surface.faultAlways("edit", undefined);
  await advance(61_000);
  expect(visible()).toEqual([...expectedMessages(text, limits), "Second."]);
});

it("continues with later replies while a surplus message cannot be removed", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({
    surface: { limits: { maxLength: 200, maxEntities: 100 } },
  });
  delivery.open(start("r1"));
  delivery.append("r1", "Some words that are too many. ".repeat(10));
  await advance(5_000);
  expect(visible()).toHaveLength(2);
  surface.faultAlways("remove", { kind: "fail", failure: { kind: "transient", code: "server-error" } });
  delivery.finish("r1", "Few words.");
  delivery.send(start("r2"), "Second.");
  await advance(12 * 60_000);
  expect(visible().at(-1)).toBe("Second.");
  surface.faultAlways("remove", undefined);
  await advance(61_000);
  expect(visible()).toEqual(["Few words.", "Second."]);
});

it("does not let a waiting or hanging chat hold up another chat of the same object", async () => {
  const { surface, delivery, advance, start } = createHarness();
  surface.fault("post", FLOOD, undefined, { kind: "hang" });
  delivery.send(start("r1"), "First.");
  await advance(100);
  delivery.send(start("r2", { address: OTHER }), "Elsewhere.");
  await advance(100);
  expect(surface.visible("8")).toEqual(["Elsewhere."]);
  expect(surface.visible("7")).toEqual([]);
});

it("makes one call at a time to an address", async () => {
  const { surface, delivery, advance, start } = createHarness({
    surface: { latencyMs: 400, capabilities: { typing: false } },
    policy: { editEveryMs: 0 },
  });
  delivery.open(start("r1"));
  for (let word = 0; word < 40; word += 1) {
    delivery.append("r1", ` word${word}`);
    await advance(50);
    if (word === 20) delivery.send(start("r2"), "Notice.");
    expect(surface.calls.filter(({ outcome }) => outcome === "pending").length).toBeLessThanOrEqual(1);
  }
});

it("quotes the answered message with the first part only", async () => {
  const { surface, delivery, advance, start } = createHarness({
    surface: { limits: { maxLength: 200, maxEntities: 100 } },
  });
  delivery.send(start("r1", { replyTo: "55" }), "Some words here. ".repeat(20));
  await advance(3_000);
  const posts = surface.calls.filter(({ method }) => method === "post");
  expect(posts.length).toBeGreaterThan(1);
  expect(posts.map(({ replyTo }) => replyTo)).toEqual(["55", ...posts.slice(1).map(() => undefined)]);
});

it("shows an empty reply as nothing", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({
    surface: { capabilities: { typing: false } },
  });
  delivery.send(start("r1"), "  \n ");
  await advance(1_000);
  expect(visible()).toEqual([]);
  expect(surface.calls).toEqual([]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [] });
});

it("takes the message away when the text becomes empty", async () => {
  const { delivery, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "Never mind");
  await advance(1_000);
  delivery.finish("r1", "");
  await advance(1_000);
  expect(visible()).toEqual([]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ state: "removed" }] });
});

it("sends a reply once, whole, where messages cannot be edited", async () => {
  const { surface, delivery, advance, start, visible } = createHarness({
    surface: { capabilities: { edit: false, typing: false } },
  });
  delivery.open(start("r1"));
  delivery.append("r1", "It begins");
  await advance(5_000);
  expect(surface.calls).toEqual([]);
  delivery.finish("r1", "It begins and ends.");
  await advance(1_000);
  expect(visible()).toEqual(["It begins and ends."]);
  expect(surface.calls).toHaveLength(1);
});

it("fails the replies of a messenger that is not declared any more, and shows the others", async () => {
  const clock = createVirtualClock();
  const surface = createFakeSurface({ clock });
  const deps = depsOn(clock);
  const database = createNodeDatabase();
  const { gate } = createTestGate({ rootDatabase: database, gateDatabase: database, deps, name: "gate" });
  const delivery = createDelivery({
    database,
    deps,
    log: createLog(() => {}),
    gates: { speaker: SPEAKER, gateOf: () => gate },
    messengers: {
      surface: (messengerId) => {
        if (messengerId !== "telegram") throw new Error("Not declared.");
        return surface;
      },
    },
    onWake: () => {},
  });
  delivery.open({ id: "r1", address: { ...ADDRESS, messengerId: "old" }, policy: {} });
  delivery.send({ id: "r2", address: ADDRESS, policy: {} }, "Here.");
  await clock.advance(1_000);
  expect(await delivery.settled("r1")).toBe("failed");
  expect(surface.visible("7")).toEqual(["Here."]);
});
