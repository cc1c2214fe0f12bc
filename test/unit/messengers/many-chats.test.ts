import { expect, it } from "vitest";
import { ManyChats } from "../../../src/messengers/agent/many-chats.ts";
import { BroadcastWorld } from "../broadcasts/broadcast-world.ts";

it("continues a delivery whose process died while it stored its chats, also if they are others now", async () => {
  const world = new BroadcastWorld();
  const chats = Array.from({ length: 2_000 }, (_, index) => `c${String(index).padStart(5, "0")}`);
  const many = new ManyChats({
    broadcasts: () => ({
      startBroadcast: (request) => world.broadcasts.start(request),
      getBroadcast: async (id) => world.broadcasts.get(id),
    }),
    targetsOf: async () => chats.map((chatId) => ({ messenger: "fake", chatId })),
  });
  const begin = async (): Promise<void> => many.begin("digest", { kind: "text", text: "News" }, "all");
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
  expect(await many.report("digest")).toMatchObject({ state: "completed" });
  expect(world.totalPosts).toBe(2_001);
});
