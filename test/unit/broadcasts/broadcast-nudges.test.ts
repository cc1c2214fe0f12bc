import { expect, it } from "vitest";
import type { BroadcastWork } from "../../../src/core/turn/broadcast.ts";
import { wait } from "../../../src/core/base/deps.ts";
import { BroadcastWorld } from "./broadcast-world.ts";

const MINUTE_MS = 60_000;
const DECIDED_MS = 2 * 24 * 60 * MINUTE_MS;

/** A delivery to three chats, in one of which somebody has just decided after two days. */
async function decided(): Promise<BroadcastWorld> {
  const world = new BroadcastWorld();
  world.fateOf = (chat) => (chat === "c2" ? "deciding" : "sent");
  const targets = ["c1", "c2", "c3"].map((chatId) => ({ messenger: "fake", chatId }));
  let isDone = false;
  const work = { kind: "content", content: "News", informModel: false } as const;
  void world.broadcasts.start({ id: "news", work, targets }).then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  const begun = world.clock.now();
  while (begun + DECIDED_MS - world.clock.now() > 10 * MINUTE_MS) await world.run(1);
  await world.clock.advance(begun + DECIDED_MS + 1 - world.clock.now());
  expect(world.broadcasts.get("news")).toMatchObject({ state: "running", sent: 2, deciding: 1 });
  return world;
}

it("a delivery ends at once when one of its chats tells that somebody has decided there", async () => {
  const world = await decided();
  let ends = 0;
  world.onProgress = () => (ends += 1);
  const at = world.clock.now();
  world.broadcasts.nudge("news", "fake:c2");
  await world.run(1);
  expect(world.clock.now() - at).toBeLessThan(1_000);
  expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 3 });
  expect(ends).toBe(1);
  world.broadcasts.nudge("news", "fake:c2");
  await world.run();
  expect(ends).toBe(1);
});

it("a delivery notices a decision without being told, only later", async () => {
  const world = await decided();
  const calls = world.calls.length;
  world.broadcasts.nudge("other news", "fake:c2");
  world.broadcasts.nudge("news", "fake:c9");
  world.broadcasts.nudge("news", "fake:c1");
  await world.run(1);
  await world.run();
  expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 3 });
  expect(world.calls.length - calls, "nobody else is asked again").toBe(1);
});

it("many decisions at once do not keep other deliveries from their turn", async () => {
  const world = new BroadcastWorld();
  world.fateOf = () => "deciding";
  const work: BroadcastWork = {
    kind: "prompt",
    messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "Write it." }] }],
  };
  const chats = Array.from({ length: 150 }, (_, index) => `c${index}`);
  const start = async (id: string, to: readonly string[]): Promise<void> => {
    let isDone = false;
    const targets = to.map((chatId) => ({ messenger: "fake", chatId }));
    void world.broadcasts.start({ id, work, targets }).then(() => (isDone = true));
    await world.clock.advanceUntil(() => isDone, 1_000);
  };
  await start("digest", chats);
  await world.run(1);
  // The model of each of these chats writes for a while.
  world.answerAfterMs = 10_000;
  for (const chat of chats) world.broadcasts.nudge("digest", `fake:${chat}`);
  const begun = world.clock.now();
  await world.run(1);
  expect(world.clock.now() - begun).toBeLessThan(45_000);
  expect(world.calls.length).toBeGreaterThan(150);
  world.fateOf = () => "sent";
  await start("news", ["d1"]);
  await world.run(2);
  expect(world.broadcasts.get("news")).toMatchObject({ state: "done", sent: 1 });
  const asked = (): number => new Set(world.calls.slice(150).map(({ target }) => target)).size;
  for (let runs = 0; asked() < 151 && runs < 20; runs += 1) await world.run(1);
  expect(asked(), "the others are asked later").toBe(151);
});

it("a delivery hears of a decision that comes between an answer of its chat and the end of the slice", async () => {
  const world = new BroadcastWorld();
  world.fateOf = () => "deciding";
  const targets = ["c1", "c2"].map((chatId) => ({ messenger: "fake", chatId }));
  let isDone = false;
  const work = { kind: "content", content: "News", informModel: false } as const;
  void world.broadcasts.start({ id: "news", work, targets }).then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  // Both chats are asked rarely now.
  await world.run(20);
  const known = world.calls.length;
  world.onCall = () => {
    const [asked] = world.calls.slice(known);
    if (asked === undefined) return;
    // The second chat keeps the slice open.
    world.answerAfterMs = 10_000;
    void wait(world.clock, 5_000).then(() => {
      world.decidedIn.add(asked.address.chatId);
      world.broadcasts.nudge("news", asked.target);
    });
  };
  await world.run(1);
  expect(world.calls.length - known).toBe(2);
  expect(world.broadcasts.get("news")).toMatchObject({ sent: 0, deciding: 2 });
  world.onCall = () => {};
  const at = world.clock.now();
  await world.run(1);
  expect(world.broadcasts.get("news")).toMatchObject({ sent: 1, deciding: 1 });
  expect(world.clock.now() - at).toBeLessThan(15_000);
});
