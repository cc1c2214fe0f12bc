import { expect, it } from "vitest";
import { ManyChats } from "../../../src/schedules/chat/many-chats.ts";
import type { ManyChatsSender } from "../../../src/core/turn/broadcast.ts";
import type { ManyWork } from "../../../src/schedules/runs/occurrence-host.ts";
import { BroadcastWorld, chatAddress } from "../broadcasts/broadcast-world.ts";

const NEWS: ManyWork = {
  kind: "text",
  text: "News",
  run: { schedule: { keeper: "", taskId: "digest", revision: "1" }, occurrenceKey: "digest@1" },
};

function senderOf(world: BroadcastWorld): Omit<ManyChatsSender, "hasSubscribers"> {
  return {
    startBroadcast: (request) => world.broadcasts.start(request),
    getBroadcast: async (id) => world.broadcasts.get(id),
    broadcastReceipts: async (id, filter) => world.broadcasts.receipts(id, filter),
    cancelBroadcast: async (id) => world.broadcasts.cancel(id),
  };
}

it("waits while somebody decides in one of the chats, and names the chat", async () => {
  const world = new BroadcastWorld();
  const chats = ["c1", "c2", "c3"];
  let fate: "slow" | "sent" = "slow";
  world.fateOf = (chat) => (chat === "c2" ? "deciding" : fate);
  const many = new ManyChats({
    broadcasts: () => senderOf(world),
    targetsOf: async () => chats.map((chatId) => ({ messenger: "fake", chatId })),
  });
  let isDone = false;
  void many.begin("digest", NEWS, "all").then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  await world.run(1);
  expect(await many.report("digest", false), "others are on their way").toMatchObject({ state: "open" });
  fate = "sent";
  await world.run(5);
  expect(await many.report("digest", false)).toMatchObject({ state: "waiting" });
  expect(world.broadcasts.get("digest")).toMatchObject({ waiting: 1, deciding: 1, sent: 2 });
  expect(world.broadcasts.receipts("digest", { state: "open" }).receipts).toMatchObject([
    { address: { chatId: "c2" }, code: "waits-for-decision" },
  ]);
  await world.run();
  expect(await many.report("digest", false)).toMatchObject({ state: "completed" });
  const ended = world.broadcasts.get("digest");
  expect(ended).toMatchObject({ state: "done", sent: 3 });
  expect(ended).not.toHaveProperty("deciding");
});

it("continues a delivery whose process died while it stored its chats, also if they are others now", async () => {
  const world = new BroadcastWorld();
  const chats = Array.from({ length: 2_000 }, (_, index) => `c${String(index).padStart(5, "0")}`);
  const many = new ManyChats({
    broadcasts: () => senderOf(world),
    targetsOf: async () => chats.map((chatId) => ({ messenger: "fake", chatId })),
  });
  const begin = async (): Promise<void> => many.begin("digest", NEWS, "all");
  void begin().catch(() => undefined);
  await world.clock.settle();
  world.kill();
  expect(world.broadcasts.get("digest")?.state).toBe("collecting");
  chats.unshift("a new chat");
  let isDone = false;
  void begin().then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  await world.run();
  expect(world.broadcasts.get("digest")).toMatchObject({ state: "done", total: 2_001, sent: 2_001 });
  expect(Math.max(...chats.map((chat) => world.posts(chat)))).toBe(1);
  await begin();
  expect(await many.report("digest", false)).toMatchObject({ state: "completed" });
  expect(world.totalPosts).toBe(2_001);
});

it.each([
  ["nobody has subscribed any more", (): void => undefined, { state: "skipped", code: "no-targets" }],
  [
    "everybody unsubscribes before the delivery",
    (world: BroadcastWorld): void => void world.subscribers.add(chatAddress("c1"), 0),
    { state: "skipped", code: "unsubscribed" },
  ],
])("is no failure if %s", async (_when, prepare, report) => {
  const world = new BroadcastWorld();
  prepare(world);
  const many = new ManyChats({
    broadcasts: () => senderOf(world),
    targetsOf: async () => [],
  });
  let isDone = false;
  void many.begin("digest", NEWS, "subscribers").then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  world.subscribers.remove(chatAddress("c1"));
  await world.run();
  expect(await many.report("digest", false)).toMatchObject(report);
});

it("ends the turns of a delivery whose task somebody has deleted, and begins no other ones", async () => {
  const world = new BroadcastWorld();
  world.fateOf = (chat) => (chat === "c2" ? "deciding" : "sent");
  world.quiet.set("c3", world.clock.now() + 3_600_000);
  const chats = ["c1", "c2", "c3"].map((chat) => ({
    address: chatAddress(chat),
    conversation: `of ${chat}`,
  }));
  const many = new ManyChats({ broadcasts: () => senderOf(world), targetsOf: async () => [] });
  let isDone = false;
  void many.begin("digest", NEWS, chats).then(() => (isDone = true));
  await world.clock.advanceUntil(() => isDone, 1_000);
  await world.run(1);
  expect(await many.report("digest", true)).toMatchObject({
    chats: [{ state: "delivered" }, { state: "waiting" }, { state: "pending" }],
  });
  const ended: string[] = [];
  await many.end("digest", (conversation) => ({
    end: async (turn) => void ended.push(`${conversation}: ${turn}`),
  }));
  expect(ended).toEqual(["of c2: broadcast:digest:fake:c2"]);
  await world.run(3);
  expect(world.posts("c3")).toBe(0);
});
