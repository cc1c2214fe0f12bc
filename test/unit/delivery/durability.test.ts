import { expect, it } from "vitest";
import { createDelivery } from "../../../delivery/index.ts";
import type { DeliveryFilter } from "../../../src/core/chat/delivery.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { createHarness, depsOn, expectedMessages, SPEAKER } from "./engine-harness.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";

const DAY_MS = 24 * 3_600_000;

it("sets a wake-up before a whole reply is sent, and none when everything is done", async () => {
  const { delivery, clock, start, wakeAt, advance } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "Text");
  await clock.advance(2_000);
  expect(wakeAt(), "the turn of a streaming reply has a wake of its own").toBeUndefined();
  delivery.finish("r1", "Text and end.");
  expect(wakeAt()).toBe(clock.now() + 5_000);
  expect(delivery.nextWakeAt()).toBe(wakeAt());
  await advance(1_000);
  expect(wakeAt()).toBeUndefined();
});

it("continues a half-shown reply in the same message after a restart", async () => {
  const world = createCrashWorld();
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  first.delivery.append("r1", "It begins");
  await first.advance(1_000);
  const second = world.boot(0);
  await second.delivery.run();
  await second.advance(10_000);
  expect(world.platform.visible("7")).toEqual(["It begins"]);
  second.delivery.open(startOf("r1"));
  second.delivery.append("r1", "It starts over");
  await second.advance(1_000);
  expect(world.platform.visible("7")).toEqual(["It starts over"]);
  second.delivery.finish("r1", "It starts over and ends.");
  await second.advance(1_000);
  expect(world.platform.messages("7")).toMatchObject([{ id: "101", text: "It starts over and ends." }]);
});

it("sends a whole reply after a restart from the rows alone", async () => {
  const world = createCrashWorld();
  const first = world.boot(0);
  first.delivery.send(startOf("r1"), "Hello.");
  first.delivery.send(startOf("r2"), "There.");
  first.delivery.send(startOf("r3"), "Friend.");
  first.kill();
  await world.clock.advance(60_000);
  expect(world.platform.visible("7")).toEqual([]);
  const second = world.boot(0);
  await Promise.all([second.delivery.run(), second.advance(1_000)]);
  expect(world.platform.visible("7")).toEqual(["Hello.", "There.", "Friend."]);
  expect(second.delivery.nextWakeAt()).toBeUndefined();
});

it("retries a refused call at once after a start", async () => {
  const world = createCrashWorld();
  const failure = { kind: "misconfigured", code: "token-refused" } as const;
  world.platform.faultAlways("post", { kind: "fail", failure });
  const first = world.boot(0);
  first.delivery.send(startOf("r1"), "Hello.");
  await first.advance(200_000);
  first.kill();
  // The owner has put the token right, and starts the bot again.
  world.platform.faultAlways("post", undefined);
  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  await second.advance(1_000);
  expect(world.platform.visible("7")).toEqual(["Hello."]);
});

it("treats the same id as the same reply, also after it has ended", async () => {
  const { delivery, start, advance, visible, ended } = createHarness();
  delivery.send(start("r1"), "Hello.");
  delivery.send(start("r1"), "Hello again.");
  await advance(1_000);
  delivery.open(start("r1"));
  delivery.append("r1", "Once more");
  delivery.finish("r1", "Once more.");
  delivery.send(start("r1"), "And again.");
  await advance(1_000);
  expect(visible()).toEqual(["Hello."]);
  expect(ended).toEqual([["r1", "delivered"]]);
});

it("ends a promise of `settled` for each reply, asked before or after its end", async () => {
  const { delivery, start, advance } = createHarness();
  delivery.open(start("r1"));
  const early = delivery.settled("r1");
  delivery.finish("r1", "Hello.");
  await advance(1_000);
  expect([await early, await delivery.settled("r1")]).toEqual(["delivered", "delivered"]);
});

it("keeps a receipt with the messages' ids and without any text, and sweeps it after thirty days", async () => {
  const { delivery, database, start, advance, clock } = createHarness();
  const openedAt = clock.now();
  delivery.open(start("r1"));
  delivery.append("r1", "A secret");
  await advance(1_000);
  delivery.finish("r1", "A secret word.");
  await advance(1_000);
  delivery.open(start("stranded"));
  delivery.append("stranded", "Half");
  expect(delivery.receipt("r1")).toEqual({
    replyId: "r1",
    messengerId: "telegram",
    threadId: "telegram:7",
    state: "delivered",
    createdAt: openedAt,
    endedAt: openedAt + 1_050,
    messages: [{ part: 0, state: "sent", messageId: "101", attempts: 1, sentAt: openedAt + 50 }],
  });
  const stored = JSON.stringify([
    database.all("SELECT * FROM reply_v1 WHERE id = 'r1'"),
    database.all("SELECT * FROM outbox_v1"),
  ]);
  expect(stored).not.toContain("secret");
  await clock.advance(31 * DAY_MS);
  await Promise.all([delivery.run(), advance(1_000)]);
  expect(delivery.receipt("r1")).toBeUndefined();
  expect(delivery.receipt("stranded")?.state).toBe("streaming");
  expect(database.all("SELECT * FROM outbox_v1")).toHaveLength(1);
});

it("keeps receipts as long as configured", async () => {
  const harness = createHarness();
  const { start, clock, database } = harness;
  const delivery = createDelivery({
    database,
    deps: depsOn(clock),
    log: createLog(() => {}),
    gates: { speaker: SPEAKER, gateOf: () => harness.gate },
    messengers: { surface: () => harness.surface },
    onWake: () => {},
    keepReceiptsMs: () => 2 * DAY_MS,
  });
  delivery.send(start("r1"), "Hello.");
  await clock.advance(1_000);
  await clock.advance(1.5 * DAY_MS);
  await delivery.run();
  expect(delivery.receipt("r1")?.state).toBe("delivered");
  await clock.advance(DAY_MS);
  await delivery.run();
  expect(delivery.receipts()).toEqual([]);
});

it("lists receipts by state and time, the newest first", async () => {
  const { surface, delivery, start, advance, clock } = createHarness();
  delivery.send(start("r1"), "One.");
  await advance(1_000);
  surface.fault("post", { kind: "fail", failure: { kind: "rejected", code: "empty" } });
  delivery.send(start("r2"), "Two.");
  await advance(1_000);
  const since = clock.now();
  delivery.send(start("r3"), "Three.");
  await advance(1_000);
  const ids = (filter?: DeliveryFilter) => delivery.receipts(filter).map(({ replyId }) => replyId);
  expect(ids()).toEqual(["r3", "r2", "r1"]);
  expect(ids({ state: "delivered" })).toEqual(["r3", "r1"]);
  expect(ids({ since })).toEqual(["r3"]);
  expect(ids({ limit: 2 })).toEqual(["r3", "r2"]);
  expect(delivery.receipts({ state: "failed" })).toMatchObject([
    { replyId: "r2", code: "empty", messages: [{ part: 0, state: "failed", code: "empty", attempts: 1 }] },
  ]);
});

it("shows nothing for a reply that ends in silence, and removes what an earlier attempt showed", async () => {
  const { surface, delivery, start, advance, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.finish("r1", "");
  await advance(10_000);
  expect(surface.calls.filter(({ method }) => method !== "typing")).toEqual([]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [] });
  delivery.open(start("r2"));
  delivery.append("r2", "On second thoughts");
  await advance(1_000);
  expect(visible()).toEqual(["On second thoughts"]);
  delivery.replace("r2", "");
  await advance(1_000);
  delivery.finish("r2", "");
  await advance(1_000);
  expect(visible()).toEqual([]);
  expect(delivery.receipt("r2")).toMatchObject({ state: "delivered", messages: [{ state: "removed" }] });
  delivery.open(start("r3"));
  delivery.append("r3", "A third");
  await advance(1_000);
  delivery.withdraw("r3");
  delivery.open(start("r4", { takesOver: "r3" }));
  delivery.finish("r4", "");
  await advance(1_000);
  expect(visible()).toEqual([]);
  expect(await delivery.settled("r4")).toBe("delivered");
});

it("ends silently also when the process dies at any boundary of that", async () => {
  for (let crashAt = 0; crashAt < 14; crashAt += 1) {
    const world = createCrashWorld({ probing: true });
    for (const at of [crashAt, 0]) {
      try {
        const process = world.boot(at);
        void process.delivery.run().catch(ignoreCrash);
        if (process.delivery.receipt("r1")?.state !== "delivered") {
          process.delivery.open(startOf("r1"));
          process.delivery.append("r1", "On second thoughts");
          await process.advance(500);
          if (!process.isDead()) process.delivery.finish("r1", "");
        }
        await process.advance(60_000);
      } catch (error) {
        ignoreCrash(error);
      }
    }
    expect(world.platform.visible("7"), `boundary ${crashAt}`).toEqual([]);
  }
});

it("writes few rows for a short reply that streams", async () => {
  let writes = 0;
  const harness = createHarness();
  const delivery = createDelivery({
    database: harness.database.withHooks({ afterWrite: () => (writes += 1) }),
    deps: depsOn(harness.clock),
    log: createLog(() => {}),
    gates: { speaker: SPEAKER, gateOf: () => harness.gate },
    messengers: { surface: () => harness.surface },
    onWake: () => {},
  });
  writes = 0;
  delivery.open(harness.start("r1"));
  for (let word = 0; word < 100; word += 1) {
    delivery.append("r1", ` word${word}`);
    await harness.clock.advance(100);
  }
  delivery.finish("r1", "The end.");
  await harness.clock.advance(1_000);
  expect(await delivery.settled("r1")).toBe("delivered");
  // Opened, sending, sent, whole, delivered.
  expect(writes).toBe(5);
});

it("continues with the next reply when a surface breaks its contract", async () => {
  const { surface, delivery, start, advance, visible, lines } = createHarness();
  const post = surface.post.bind(surface);
  surface.post = async (address, message, options) =>
    message.text.endsWith("Poison.") ? (undefined as never) : post(address, message, options);
  delivery.send(start("r1"), "Poison.");
  delivery.send(start("r2"), "Hello.");
  await advance(60_000);
  expect(visible()).toEqual(["Hello."]);
  expect(await delivery.settled("r1")).toBe("failed");
  expect(lines.join("\n")).not.toContain("Poison");
});

it("gives up a reply on which the engine itself fails for a quarter of an hour", async () => {
  const { surface, delivery, start, advance, visible, ended } = createHarness();
  const { capabilities } = surface;
  Object.defineProperty(surface, "capabilities", {
    get: () => {
      if (ended.length === 0) throw new TypeError("A defect.");
      return capabilities;
    },
  });
  delivery.send(start("r1"), "Never.");
  delivery.send(start("r2"), "Hello.");
  await advance(10 * 60_000);
  expect(ended).toEqual([]);
  await advance(10 * 60_000);
  expect(ended).toEqual([
    ["r1", "failed"],
    ["r2", "delivered"],
  ]);
  expect(visible()).toEqual(["Hello."]);
});

it("does not trust a stored state that an interim edit has overwritten", async () => {
  const limits = { maxLength: 160, maxEntities: 100 };
  const world = createCrashWorld({ limits });
  const text = Array.from({ length: 8 }, (_, index) => `Paragraph ${index} of it.`).join("\n\n");
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  first.delivery.append("r1", text);
  await first.advance(2_000);
  first.kill();
  const second = world.boot(0);
  second.delivery.open(startOf("r1"));
  second.delivery.append("r1", text.slice(0, 30));
  await second.advance(2_000);
  second.kill();
  expect(world.platform.visible("7")).not.toEqual(expectedMessages(text, limits));
  const third = world.boot(0);
  third.delivery.finish("r1", text);
  await third.advance(2_000);
  expect(world.platform.visible("7")).toEqual(expectedMessages(text, limits));
});
