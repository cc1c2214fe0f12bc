import { expect, it } from "vitest";
import { createDelivery } from "../../../delivery/index.ts";
import { createLog } from "../../../src/core/log.ts";
import { createHarness, depsOn, expectedMessages } from "./engine-harness.ts";
import { createCrashWorld, startOf } from "./crash-world.ts";

const DAY_MS = 24 * 3_600_000;

it("arms a wake before a whole reply is sent, and none when all is done", async () => {
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
  second.delivery.append("r1", "It starts anew");
  await second.advance(1_000);
  expect(world.platform.visible("7")).toEqual(["It starts anew"]);
  second.delivery.finish("r1", "It starts anew and ends.");
  await second.advance(1_000);
  expect(world.platform.messages("7")).toMatchObject([{ id: "101", text: "It starts anew and ends." }]);
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
  delivery.open(start("r1"));
  delivery.append("r1", "A secret");
  await advance(1_000);
  delivery.finish("r1", "A secret word.");
  await advance(1_000);
  delivery.open(start("stranded"));
  delivery.append("stranded", "Half");
  expect(delivery.receipt("r1")).toEqual({
    replyId: "r1",
    state: "delivered",
    messages: [{ part: 0, state: "sent", messageId: "101", code: undefined, attempts: 1 }],
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

it("writes few rows for a short reply that streams", async () => {
  let writes = 0;
  const harness = createHarness();
  const delivery = createDelivery({
    database: harness.database.withHooks({ afterWrite: () => (writes += 1) }),
    deps: depsOn(harness.clock),
    log: createLog(() => {}),
    budget: harness.budget,
    surfaceFor: () => harness.surface,
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

it("goes on with the next reply when a surface breaks its contract", async () => {
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

it("does not believe in a stored state that an interim edit has overwritten", async () => {
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
