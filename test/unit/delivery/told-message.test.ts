import { describe, expect, it } from "vitest";
import { cardOf } from "./card-harness.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { ADDRESS } from "./engine-harness.ts";
import type { FakeSurfaceOptions } from "../../support/fake-surface.ts";

const CARD = "c1";
const { chatId } = ADDRESS;
const start = startOf(CARD, { policy: { onUnknown: "leave" } });
const signal = new AbortController().signal;

interface Lost {
  readonly world: CrashWorld;
  /** The process that has posted the card, and waits for the answer. */
  readonly process: CrashProcess;
  /** The id of the card's message, which only people know. */
  readonly messageId: string;
}

async function livesIn(world: CrashWorld): Promise<CrashProcess> {
  const process = world.boot(Infinity);
  void process.delivery.run().catch(ignoreCrash);
  await process.advance(1);
  return process;
}

/** A card that was posted, and whose post is never answered. */
async function unanswered(platform: Partial<FakeSurfaceOptions> = {}): Promise<Lost> {
  const world = createCrashWorld({ ...platform, capabilities: { typing: false } });
  const process = await livesIn(world);
  world.platform.fault("post", { kind: "hang" });
  const card = cardOf("One", ["Yes"]);
  process.delivery.sendCard(start, card);
  await process.advance(100);
  const { buttons, text } = card;
  const posted = world.platform.post(ADDRESS, { text, entities: [], buttons }, { signal });
  await process.advance(100);
  return { world, process, messageId: (await posted).messageId };
}

async function restarted({ process, world }: Lost): Promise<CrashProcess> {
  process.kill();
  const next = await livesIn(world);
  await next.advance(30_000);
  return next;
}

async function expectRevised({ messageId, world }: Lost, { advance, delivery }: CrashProcess) {
  delivery.revise(CARD, cardOf("Two"));
  await advance(30_000);
  expect([world.platform.visible(chatId), world.platform.keyboards(chatId)]).toEqual([["Two"], [undefined]]);
  expect(delivery.receipt(CARD)).toMatchObject({
    state: "delivered",
    messages: [{ part: 0, state: "sent", messageId }],
  });
}

describe("a card whose post was lost goes on in the message that a press tells", () => {
  it("while the post is under way, before the process dies", async () => {
    const lost = await unanswered();
    expect(lost.process.delivery.receipt(CARD)?.messages).toMatchObject([{ state: "sending" }]);
    lost.process.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await expectRevised(lost, await restarted(lost));
  });

  it("while the post is under way, and then ends without an answer", async () => {
    const lost = await unanswered();
    lost.process.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await lost.process.advance(60_000);
    expect(lost.process.delivery.receipt(CARD)?.state).toBe("delivered");
    await expectRevised(lost, lost.process);
  });

  it("after it was given up", async () => {
    const lost = await unanswered();
    await lost.process.advance(60_000);
    expect(lost.process.delivery.receipt(CARD)?.state).toBe("failed");
    lost.process.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await expectRevised(lost, lost.process);
  });

  it("after its last change could not be shown, which is shown then", async () => {
    const lost = await unanswered();
    const next = await restarted(lost);
    next.delivery.revise(CARD, cardOf("Two"));
    await next.advance(30_000);
    expect(next.delivery.receipt(CARD)?.state).toBe("failed");
    next.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await next.advance(30_000);
    expect(lost.world.platform.visible(chatId)).toEqual(["Two"]);
    await expectRevised(lost, next);
  });

  it("after it was removed, and is gone then", async () => {
    const lost = await unanswered();
    const next = await restarted(lost);
    next.delivery.remove(CARD, "key-1", "One");
    await next.advance(30_000);
    next.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await next.advance(30_000);
    expect(lost.world.platform.visible(chatId)).toEqual([]);
  });

  it.each(["keys", "lists"] as const)("during a search in %s", async (search) => {
    const lost = await unanswered({ search });
    lost.world.platform.faultAlways("find", { kind: "lose", done: false });
    const next = await restarted(lost);
    next.delivery.learnMessage(CARD, ADDRESS, lost.messageId);
    await expectRevised(lost, next);
  });
});

describe("a message of which a press tells is no other card's", () => {
  it("if the card has a message that is known", async () => {
    const world = createCrashWorld({ capabilities: { typing: false } });
    const { advance, delivery } = await livesIn(world);
    delivery.sendCard(start, cardOf("One", ["Yes"]));
    await advance(1_000);
    const other = world.platform.postForeign(chatId, "Other");
    delivery.learnMessage(CARD, ADDRESS, other);
    delivery.revise(CARD, cardOf("Two"));
    await advance(1_000);
    expect(world.platform.visible(chatId)).toEqual(["Two", "Other"]);
  });

  it("if it belongs to another reply", async () => {
    const lost = await unanswered();
    const { advance, delivery } = await restarted(lost);
    delivery.sendCard({ ...start, id: "c2" }, cardOf("Other", ["No"]));
    await advance(1_000);
    const [message] = delivery.receipt("c2")?.messages ?? [];
    delivery.learnMessage(CARD, ADDRESS, message?.messageId ?? "");
    delivery.revise(CARD, cardOf("Two"));
    await advance(30_000);
    expect(lost.world.platform.visible(chatId)).toEqual(["One", "Other"]);
  });
});
