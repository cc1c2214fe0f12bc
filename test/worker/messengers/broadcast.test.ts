import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Address, Broadcast, BroadcastTargets, ChatTarget } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const inChat = (chatId: string): Exclude<ChatTarget, string> => ({ messenger: "fake", chatId });
const address = (chatId: string): Address => ({
  messengerId: "fake",
  threadId: `fake:${chatId}`,
  chatId,
  isDirectMessage: true,
});
const LONG = { timeout: 15_000, interval: 20 };

async function known(world: World, ...chats: readonly string[]): Promise<void> {
  for (const chat of chats) {
    await world.write(chat, "Hello", { user: `person of ${chat}` });
    await world.shows(chat, "You said: Hello");
  }
}

async function ended(world: World, id: string): Promise<Broadcast | undefined> {
  await expect.poll(async () => (await world.stub.broadcasts.get(id))?.endedAt, LONG).toBeGreaterThan(0);
  return world.stub.broadcasts.get(id);
}

async function kill(stub: ReturnType<World["child"]>): Promise<void> {
  await runInDurableObject(stub, (_agent, state) => state.abort("killed by a test")).catch(() => {});
}

describe("broadcast", () => {
  it("reaches a list of chats once, with receipts in their own conversations", async () => {
    const world = createWorld();
    await known(world, "c1", "c2", "c3");
    const id = await world.stub.broadcasts.send("**News**", [inChat("c1"), inChat("c2"), address("c1")]);
    expect(await ended(world, id)).toMatchObject({ state: "done", total: 2, sent: 2, failed: 0, skipped: 0 });
    for (const chat of ["c1", "c2"]) await world.shows(chat, "You said: Hello", "News");
    expect(world.chats.visible("c3")).toEqual(["You said: Hello"]);
    const { receipts } = await world.stub.broadcasts.receipts(id);
    expect(receipts.map(({ state }) => state)).toEqual(["sent", "sent"]);
    const [first] = receipts;
    expect(await world.thread("c1").deliveries.get(first?.deliveryId ?? "")).toMatchObject({
      state: "delivered",
      messages: [{ messageId: first?.messageIds[0] }],
    });
  });

  it("is part of each conversation's memory, so that a reply to it is understood", async () => {
    const world = createWorld();
    await known(world, "c1", "c2");
    world.script(() => [say("Fine.")]);
    const id = await world.stub.broadcasts.send("The office moves on Monday.", [inChat("c1"), inChat("c2")]);
    await ended(world, id);
    await world.write("c1", "Where to?");
    await expect.poll(() => world.chats.visible("c1").length).toBe(3);
    const prompt = JSON.stringify(world.requests.at(-1));
    expect(prompt).toContain("The office moves on Monday.");
    expect(prompt).toContain("You posted this in the chat");
    await world.write("c1", "And when?");
    await expect.poll(() => world.chats.visible("c1").length).toBe(4);
    const later = JSON.stringify(world.requests.at(-1));
    expect(later.split("The office moves on Monday.").length, "once in the transcript").toBe(2);
  });

  it("keeps to itself what the model shall not know", async () => {
    const world = createWorld();
    await known(world, "c1");
    await ended(
      world,
      await world.stub.broadcasts.send("Secret news", [inChat("c1")], { informModel: false }),
    );
    await world.write("c1", "Well?");
    await expect.poll(() => world.chats.visible("c1").length).toBe(3);
    expect(JSON.stringify(world.requests.at(-1))).not.toContain("Secret news");
  });

  it("asks a function about the chats of the directory", async () => {
    const world = createWorld();
    await known(world, "c1", "c2");
    await world.write("g1", "Hello", { isGroup: true, mentions: true });
    const id = await world.stub.broadcasts.send("To people", ({ kind }) => kind === "private");
    expect(await ended(world, id)).toMatchObject({ total: 2, sent: 2 });
    expect(world.chats.visible("g1")).not.toContain("To people");
  });

  it("counts a chat that has blocked the bot, with the code", async () => {
    captureLog();
    const world = createWorld();
    await known(world, "c1", "c2");
    world.chats.gone.add("c2");
    const id = await world.stub.broadcasts.send("News", [inChat("c1"), inChat("c2"), inChat("never seen")]);
    expect(await ended(world, id)).toMatchObject({
      sent: 1,
      failures: { "bot-blocked": 1 },
      skips: { "chat-unknown": 1 },
    });
  });

  it("goes out from the conversation that answers in the chat", async () => {
    const world = createWorld({ messenger: { conversation: ({ author }) => author?.userId ?? "" } });
    await known(world, "c1");
    const id = await world.stub.broadcasts.send("News", [inChat("c1")]);
    await ended(world, id);
    const { receipts } = await world.stub.broadcasts.receipts(id);
    expect(receipts).toMatchObject([{ conversation: "named:person%20of%20c1", state: "sent" }]);
  });

  it("waits for the end of a chat's quiet hours, unless it says otherwise", async () => {
    const time = (hours: number): string =>
      new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const quiet = { from: time(-1), to: time(2), timezone: "UTC" };
    const world = createWorld({
      settings: { quietHoursOf: ({ chatId }) => (chatId === "c2" ? quiet : undefined) },
    });
    await known(world, "c1", "c2");
    const id = await world.stub.broadcasts.send("News", [inChat("c1"), inChat("c2")]);
    await world.shows("c1", "You said: Hello", "News");
    await expect
      .poll(() => world.stub.broadcasts.get(id), LONG)
      .toMatchObject({ state: "running", sent: 1, waiting: 1 });
    await world.stub.broadcasts.send("Fire!", [inChat("c2")], { ignoreQuietHours: true });
    await world.shows("c2", "You said: Hello", "Fire!");
    await world.stub.deliverNotice("Your export is ready.", { channel: "fake", thread: "c2" });
    await world.shows("c2", "You said: Hello", "Fire!", "Your export is ready.");
    expect(await world.stub.broadcasts.cancel(id)).toBe(true);
    expect(await ended(world, id)).toMatchObject({ state: "cancelled", sent: 1, skips: { cancelled: 1 } });
  });

  it("has cards whose presses reach the conversation", async () => {
    const world = createWorld();
    await known(world, "c1");
    const card = {
      kind: "card",
      text: "Coming?",
      buttons: [[{ kind: "callback", label: "Yes", payload: "yes" }]],
    } as const;
    await ended(world, await world.stub.broadcasts.send(card, inChat("c1")));
    expect(await world.press("c1", "Yes")).toBeUndefined();
  });

  it("can be called in a conversation", async () => {
    const world = createWorld();
    await known(world, "c1", "c2");
    const id = await world.thread("c1").broadcasts.send("News", ({ chatId }) => chatId === "c2");
    expect(await ended(world, id)).toMatchObject({ total: 1, sent: 1 });
    await world.shows("c2", "You said: Hello", "News");
  });

  it("reaches all chats, and refuses any other word", async () => {
    const world = createWorld();
    await known(world, "c1", "c2");
    expect(await ended(world, await world.stub.broadcasts.send("News", "all"))).toMatchObject({
      total: 2,
      sent: 2,
    });
    // As JavaScript passes them.
    const refused = (targets: unknown): Promise<unknown> =>
      runInDurableObject(world.stub, (bot) =>
        bot.broadcasts.send("Late news", targets as BroadcastTargets).catch((error: Error) => error.message),
      );
    expect(await refused("subscriber")).toBe(
      'The broadcast cannot be sent: "subscriber" names no chats. Did you mean "subscribers"? A conversation is { conversation: "its name" }.',
    );
    expect(await refused("Ada")).toBe(
      'The broadcast cannot be sent: "Ada" names no chats. Use "subscribers" or "all". A conversation is { conversation: "its name" }.',
    );
    expect(await refused([inChat("c1"), "Ada"])).toMatch(/"Ada" names no chats/);
    expect(await world.stub.broadcasts.list()).toHaveLength(1);
  });

  it("accepts only words and objects as targets", () => {
    const targets: BroadcastTargets[] = [
      "all",
      { conversation: "Ada" },
      // @ts-expect-error a misspelt word
      "subscriber",
      // @ts-expect-error a word in a list
      ["subscribers"],
    ];
    expect(targets).toHaveLength(4);
  });
});

describe("subscribers", () => {
  it("subscribe and unsubscribe with commands, if the bot has switched them on", async () => {
    const world = createWorld({ settings: { subscribeCommands: true } });
    for (const chat of ["c1", "c2"]) await world.write(chat, "/subscribe");
    await world.write("c2", "/unsubscribe");
    await expect.poll(() => world.chats.visible("c2").length).toBe(2);
    await expect.poll(() => world.chats.visible("c1").length).toBe(1);
    expect(world.chats.visible("c1")[0]).toContain("You're subscribed.");
    expect(await world.stub.broadcasts.subscribers()).toMatchObject({
      subscribers: [{ address: { chatId: "c1", isDirectMessage: true } }],
    });
    const id = await world.stub.broadcasts.send("News", "subscribers");
    expect(await ended(world, id)).toMatchObject({ total: 1, sent: 1 });
    expect(world.chats.visible("c1")).toContain("News");
  });

  it("are subscribed by bot code, and follow a chat that moves", async () => {
    const world = createWorld();
    await world.write("old", "Hello", { isGroup: true, mentions: true });
    expect(await world.stub.broadcasts.subscribe(inChat("old"))).toBe(true);
    expect(await world.thread("old").broadcasts.subscribe()).toBe(false);
    await world.write("old", "", { isGroup: true, kind: "moved", movedTo: "new" });
    world.chats.moved.set("old", "new");
    await ended(world, await world.stub.broadcasts.send("News", "subscribers"));
    expect(world.chats.visible("new")).toContain("News");
    expect(await world.stub.broadcasts.unsubscribe(inChat("new"))).toBe(true);
  });

  it("have no commands otherwise", async () => {
    const world = createWorld();
    await world.write("c1", "/subscribe");
    await expect.poll(() => world.chats.visible("c1").length).toBe(1);
    expect(await world.stub.broadcasts.subscribers()).toEqual({ subscribers: [] });
  });
});

/**
 * `BROADCAST_CHATS=1000 npx vitest run --project worker test/worker/messengers/broadcast.test.ts` takes a minute, and three
 * on a machine with eight times as much to do as it can. Almost all of that is the creation of 1,000 objects: a message to
 * an object that exists takes a tenth of the time.
 */
const MANY = Number(process.env.BROADCAST_CHATS || 40);
const MOST_MS = 100_000 + MANY * 500;

it(
  "reaches each conversation once, although the root is killed again and again",
  { timeout: MOST_MS },
  async () => {
    captureLog();
    const world = createWorld();
    const chats = Array.from({ length: MANY }, (_, index) => `c${index}`);
    const id = await world.stub.broadcasts.send("News", chats.map(address), { idempotencyKey: "news" });
    for (let part = 1; part <= 3; part += 1) {
      const reached = (): number => chats.filter((chat) => world.chats.visible(chat).length > 0).length;
      await expect.poll(reached, { timeout: MOST_MS }).toBeGreaterThanOrEqual((MANY * part) / 4);
      await kill(world.stub);
    }
    await world.stub.broadcasts.send("News", chats.map(address), { idempotencyKey: "news" });
    const state = async (): Promise<string | undefined> => (await world.stub.broadcasts.get(id))?.state;
    await expect.poll(state, { timeout: MOST_MS }).toBe("done");
    expect(await world.stub.broadcasts.get(id)).toMatchObject({ total: MANY, sent: MANY });
    for (const chat of chats) expect(world.chats.visible(chat)).toEqual(["News"]);
  },
);
