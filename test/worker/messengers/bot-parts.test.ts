import { runInDurableObject } from "cloudflare:test";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { DeliveryReceipt, MessageReceipt } from "../../../src/index.ts";
import type { Think } from "../../../src/think.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** The parts of a bot's class, with all members that a Worker can reach. */
const PARTS = {
  deliveries: ["get", "list"],
} as const satisfies Partial<Record<keyof Think, readonly string[]>>;

async function answered(): Promise<World> {
  const world = createWorld();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  return world;
}

describe.each(Object.entries(PARTS))("%s", (part, members) => {
  it("has only these members", async () => {
    const world = await answered();
    await runInDurableObject(world.thread("c1"), (bot) => {
      const own: object = bot[part as keyof typeof PARTS];
      expect(Reflect.ownKeys(own)).toEqual([]);
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(own)).filter(
        (name) => name !== "constructor",
      );
      expect(names.toSorted()).toEqual(members);
    });
  });
});

describe("deliveries", () => {
  it("are a stub that a Worker may keep", async () => {
    const world = await answered();
    using deliveries = await world.thread("c1").deliveries;
    await expect.poll(() => deliveries.list({ state: "delivered" })).toHaveLength(1);
    const [receipt] = await deliveries.list();
    expect(await deliveries.get(receipt?.replyId ?? "")).toEqual(receipt);
  });

  it("return receipts of these fields", async () => {
    const world = await answered();
    const listed = () => world.thread("c1").deliveries.list({ state: "delivered" });
    await expect.poll(listed).toHaveLength(1);
    const [receipt] = await listed();
    expect(Object.keys(receipt ?? {}).toSorted()).toEqual([
      "createdAt",
      "endedAt",
      "messages",
      "messengerId",
      "replyId",
      "state",
      "threadId",
    ]);
    expect(Object.keys(receipt?.messages[0] ?? {}).toSorted()).toEqual([
      "attempts",
      "messageId",
      "part",
      "sentAt",
      "state",
    ]);
    expectTypeOf<keyof DeliveryReceipt>().toEqualTypeOf<
      "replyId" | "messengerId" | "threadId" | "state" | "code" | "createdAt" | "endedAt" | "messages"
    >();
    expectTypeOf<keyof MessageReceipt>().toEqualTypeOf<
      "part" | "state" | "messageId" | "messageIds" | "code" | "attempts" | "sentAt"
    >();
  });
});
