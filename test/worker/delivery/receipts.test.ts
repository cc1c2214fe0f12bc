import { expect, it } from "vitest";
import { createWorld } from "../support/world.ts";

it("tells over RPC what became of a conversation's replies, and never what they said (I10, I12)", async () => {
  const world = createWorld();
  const before = Date.now();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  await world.write("c1", "/help");
  await expect.poll(() => world.chats.visible("c1").length).toBe(2);
  const thread = world.thread("c1");
  await expect.poll(async () => (await thread.deliveries.list({ state: "delivered" })).length).toBe(2);
  const [help, reply] = await thread.deliveries.list();
  expect(reply).toMatchObject({ messengerId: "fake", threadId: "fake:c1", state: "delivered" });
  expect(reply?.messages).toMatchObject([
    { part: 0, state: "sent", attempts: 1, messageId: expect.any(String) as string },
  ]);
  expect(reply?.createdAt).toBeGreaterThanOrEqual(before);
  expect(reply?.endedAt).toBeGreaterThanOrEqual(reply?.messages[0]?.sentAt ?? Infinity);
  expect(await thread.deliveries.get(reply?.replyId ?? "")).toEqual(reply);
  expect(await thread.deliveries.list({ since: help?.createdAt ?? 0, limit: 1 })).toEqual([help]);
  expect(await thread.deliveries.get("another")).toBeUndefined();
  expect(await world.thread("c2").deliveries.list(), "another conversation's").toEqual([]);
  expect(JSON.stringify([help, reply])).not.toContain("Hello");
});
