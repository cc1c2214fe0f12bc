import { runInDurableObject } from "cloudflare:test";
import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  ApprovalRecord,
  Broadcast,
  BroadcastReceipt,
  DeliveryReceipt,
  ExecutionDecision,
  GrantRecord,
  MessageReceipt,
  OccurrenceDelivery,
  OccurrenceRecord,
  ScheduledTaskRecord,
  Subscriber,
} from "../../../src/index.ts";
import type { Think } from "../../../src/think.ts";
import { createRefundBot, more, shown } from "../support/refund-bot.ts";
import { digest, MONTHLY, start, to, untilEnded } from "../support/scheduled-world.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** The parts of a bot's class, with all members that a Worker can reach. */
const PARTS = {
  broadcasts: [
    "cancel",
    "get",
    "list",
    "notify",
    "receipts",
    "send",
    "subscribe",
    "subscribers",
    "unsubscribe",
  ],
  approvals: ["approve", "grants", "list", "pending", "reject", "revokeGrant"],
  deliveries: ["get", "list"],
  schedules: ["delete", "list", "occurrences", "pause", "reconcile", "resume", "run"],
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

describe("schedules", () => {
  it("return tasks and occurrences of these fields", async () => {
    const world = await start(
      { digest: { ...MONTHLY, prompt: "Write it.", deliverTo: to("c1") } },
      { script: digest },
    );
    const [task] = await world.stub.schedules.list();
    expect(Object.keys(task ?? {}).toSorted()).toEqual([
      "failures",
      "isMadeInChat",
      "isPaused",
      "kind",
      "next",
      "schedule",
      "taskId",
      "text",
      "timezone",
    ]);
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(Object.keys(occurrence ?? {}).toSorted()).toEqual([
      "attempts",
      "broadcastId",
      "createdAt",
      "deliveries",
      "endedAt",
      "lateMs",
      "occurrenceKey",
      "scheduledFor",
      "startedAt",
      "state",
      "taskId",
      "usage",
    ]);
    expect(Object.keys(occurrence?.deliveries[0] ?? {}).toSorted()).toEqual([
      "address",
      "messageIds",
      "state",
    ]);
    expectTypeOf<keyof ScheduledTaskRecord>().toEqualTypeOf<
      | "taskId"
      | "kind"
      | "text"
      | "schedule"
      | "timezone"
      | "isMadeInChat"
      | "madeBy"
      | "isPaused"
      | "failures"
      | "next"
    >();
    expectTypeOf<keyof OccurrenceRecord>().toEqualTypeOf<
      | "occurrenceKey"
      | "taskId"
      | "scheduledFor"
      | "state"
      | "code"
      | "attempts"
      | "lateMs"
      | "deliveries"
      | "broadcastId"
      | "usage"
      | "createdAt"
      | "startedAt"
      | "endedAt"
    >();
    expectTypeOf<keyof OccurrenceDelivery>().toEqualTypeOf<"address" | "state" | "messageIds" | "code">();
  });
});

describe("broadcasts", () => {
  it("return their progress, receipts and subscribers of these fields", async () => {
    const world = await answered();
    const { broadcasts } = world.stub;
    await broadcasts.subscribe({ messenger: "fake", chatId: "c1" });
    const id = await broadcasts.send("News", "subscribers");
    await expect.poll(async () => (await broadcasts.get(id))?.state).toBe("done");
    const [listed] = await broadcasts.list();
    expect(listed).toEqual(await broadcasts.get(id));
    expect(Object.keys(listed ?? {}).toSorted()).toEqual([
      "createdAt",
      "endedAt",
      "failed",
      "failures",
      "id",
      "sent",
      "skipped",
      "skips",
      "state",
      "total",
      "waiting",
    ]);
    const { receipts } = await broadcasts.receipts(id);
    expect(Object.keys(receipts[0] ?? {}).toSorted()).toEqual([
      "address",
      "conversation",
      "deliveryId",
      "messageIds",
      "state",
    ]);
    const { subscribers } = await broadcasts.subscribers();
    expect(Object.keys(subscribers[0] ?? {}).toSorted()).toEqual(["address", "since"]);
    expectTypeOf<keyof Broadcast>().toEqualTypeOf<
      | "id"
      | "state"
      | "total"
      | "waiting"
      | "deciding"
      | "quiet"
      | "sent"
      | "failed"
      | "skipped"
      | "failures"
      | "skips"
      | "usage"
      | "createdAt"
      | "endedAt"
    >();
    expectTypeOf<keyof BroadcastReceipt>().toEqualTypeOf<
      "address" | "conversation" | "deliveryId" | "state" | "code" | "messageIds"
    >();
    expectTypeOf<keyof Subscriber>().toEqualTypeOf<"address" | "since">();
  });
});

describe("approvals", () => {
  it("return records, decisions and grants of these fields, none of the product's own", async () => {
    const record = [
      "action",
      "agreed",
      "approvers",
      "askedIn",
      "channel",
      "conversation",
      "createdAt",
      "decidedAt",
      "decidedBy",
      "edited",
      "endedAt",
      "expiresAt",
      "id",
      "input",
      "inputHash",
      "isTool",
      "kind",
      "modelWords",
      "origin",
      "outcome",
      "permissions",
      "preview",
      "quorum",
      "reason",
      "requestId",
      "requester",
      "requesterMayApprove",
      "risk",
      "sensitive",
      "state",
      "successor",
      "summary",
      "taskId",
      "toolCallId",
    ];
    const { world } = createRefundBot({
      grantable: ({ input }) => ({ scope: "all", words: `Refunds such as ${input.orderId}` }),
    });
    await world.write("c1", "Refund 7");
    await more(world);
    await world.press("c1", "Allow always");
    await shown(world, "Told: Approved by ada");
    const { approvals } = world.thread("c1");
    const [done] = await approvals.list();
    expect(Object.keys(done ?? {}).toSorted()).toEqual(record);
    const late = await approvals.approve(done?.id ?? "");
    expect([late.kind, Object.keys(late.approval ?? {}).toSorted()]).toEqual(["late", record]);
    const [found] = await world.stub.approvals.list();
    expect(Object.keys(found ?? {}).toSorted()).toEqual(record);
    const [grant] = await approvals.grants();
    expect(Object.keys(grant ?? {}).toSorted()).toEqual([
      "action",
      "approvalId",
      "budget",
      "calls",
      "givenAt",
      "givenBy",
      "id",
      "lastUsedAt",
      "length",
      "messengerId",
      "person",
      "revokedAt",
      "revokedBy",
      "scope",
      "sum",
      "taskId",
      "threadId",
      "until",
      "uses",
      "words",
    ]);
    expectTypeOf<keyof ApprovalRecord>().toEqualTypeOf<
      | "action"
      | "agreed"
      | "approvers"
      | "askedIn"
      | "channel"
      | "conversation"
      | "createdAt"
      | "decidedAt"
      | "decidedBy"
      | "edited"
      | "endedAt"
      | "expiresAt"
      | "id"
      | "input"
      | "inputHash"
      | "isTool"
      | "kind"
      | "modelWords"
      | "origin"
      | "outcome"
      | "permissions"
      | "preview"
      | "quorum"
      | "reason"
      | "requestId"
      | "requester"
      | "requesterMayApprove"
      | "risk"
      | "sensitive"
      | "state"
      | "successor"
      | "summary"
      | "taskId"
      | "toolCallId"
    >();
    expectTypeOf<keyof ExecutionDecision>().toEqualTypeOf<"kind" | "approval">();
    expectTypeOf<keyof GrantRecord>().toEqualTypeOf<
      | "action"
      | "approvalId"
      | "budget"
      | "calls"
      | "givenAt"
      | "givenBy"
      | "id"
      | "lastUsedAt"
      | "length"
      | "messengerId"
      | "person"
      | "revokedAt"
      | "revokedBy"
      | "scope"
      | "sum"
      | "taskId"
      | "threadId"
      | "until"
      | "uses"
      | "words"
    >();
  });
});
