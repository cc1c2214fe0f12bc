import { createTeamsAdapter } from "@chat-adapter/teams";
import { describe, expect, it } from "vitest";
import type { IncomingEvent } from "../../../../src/core/chat/messenger.ts";
import { throughStorage } from "../platform-context.ts";
import { addressOf, createBot, NOW, useStub } from "./several-installations.ts";
import type { Bot, BotObject } from "./several-installations.ts";

/* The real adapter of Teams, whose thread ids contain the address of its service. */

const stub = useStub();

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = `${base64({ alg: "none" })}.${base64({ aud: "app", exp: 4_000_000_000, iat: 1 })}.signature`;

const createTeamsBot = (): Bot => {
  stub.answer = () => ({ status: 201, body: { id: "made" } });
  return createBot(() => createTeamsAdapter({ appId: "app", token: () => jwt, webhookVerifier: () => true }));
};

const CHANNEL = "19:abc@thread.tacv2";

interface Sent {
  readonly id: string;
  readonly region: string;
  readonly conversation?: string;
  readonly sentAt?: number;
  readonly fields?: object;
}

async function send(object: BotObject, sent: Sent): Promise<IncomingEvent> {
  const { conversation = "a:1", fields, id, region, sentAt = NOW + Number(id) } = sent;
  const isChannel = conversation.startsWith("19:");
  const activity = {
    type: "message",
    id,
    text: "hi",
    timestamp: new Date(sentAt).toISOString(),
    channelId: "msteams",
    serviceUrl: `${stub.url}/${region}/`,
    from: { id: "29:ada", name: "Ada" },
    recipient: { id: "28:app", name: "bot" },
    conversation: { id: conversation, conversationType: isChannel ? "channel" : "personal", tenantId: "t" },
    channelData: { tenant: { id: "t" }, ...(isChannel && { team: { id: "19:team" } }) },
    ...fields,
  };
  const headers = { "content-type": "application/json", authorization: "Bearer x" };
  const request = new Request("https://bot.example/messengers/bot/webhook", {
    method: "POST",
    headers,
    body: JSON.stringify(activity),
  });
  const { events, status } = await object.receive(request);
  expect(status).toBe(200);
  const [event] = events;
  if (event === undefined) throw new Error("The adapter reported no event.");
  return throughStorage(event);
}

const pathOfPost = async (object: BotObject, threadId: string): Promise<string | undefined> => {
  stub.calls = [];
  expect(await object.post(addressOf(threadId), "Hello")).toBe("made");
  return stub.calls[0]?.path;
};

describe("a chat of Teams whose service address changes", () => {
  it("keeps its conversation, and is written to at the new address by any object", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const before = await send(root, { id: "1", region: "amer" });
    const other = bot.open();
    expect(await pathOfPost(other, before.thread.id)).toMatch(/^\/amer\//);
    bot.clock.now += 61_000;
    const after = await send(root, { id: "2", region: "emea" });
    expect(after.thread).toEqual(before.thread);
    expect(await pathOfPost(other, before.thread.id)).toBe("/emea/v3/conversations/a:1/activities");
    expect(await pathOfPost(bot.open(), before.thread.id)).toMatch(/^\/emea\//);
  });

  it("is answered at the new address at once by the object that hears of it", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const thread = bot.open();
    const { thread: known } = await send(root, { id: "1", region: "amer" });
    bot.clock.now += 120_000;
    expect(await pathOfPost(thread, known.id)).toMatch(/^\/amer\//);
    const event = await send(root, { id: "2", region: "emea", sentAt: bot.clock.now });
    await thread.platform.parse(event, thread.context);
    expect(await pathOfPost(thread, known.id)).toMatch(/^\/emea\//);
  });

  it("keeps the threads of a channel together", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const first = await send(root, { id: "1", region: "amer", conversation: `${CHANNEL};messageid=1` });
    const again = await send(root, { id: "2", region: "emea", conversation: `${CHANNEL};messageid=1` });
    const next = await send(root, { id: "3", region: "emea", conversation: `${CHANNEL};messageid=3` });
    expect(again.thread).toEqual(first.thread);
    expect(next.thread.chatId).toBe(first.thread.chatId);
    expect(next.thread.id).not.toBe(first.thread.id);
    expect(await pathOfPost(bot.open(), next.thread.id)).toMatch(/^\/emea\/.*messageid(?:=|%3D)3/);
  });

  it("is the same chat for presses, reactions, edits and deletions", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const { thread } = await send(root, { id: "1", region: "amer" });
    const changes = [
      { type: "message", replyToId: "1", value: { actionId: "c1.abc.def" } },
      { type: "messageUpdate", channelData: { tenant: { id: "t" }, eventType: "editMessage" } },
      { type: "messageDelete", channelData: { tenant: { id: "t" }, eventType: "softDeleteMessage" } },
    ];
    for (const [index, fields] of changes.entries()) {
      const event = await send(root, { id: String(index + 2), region: "emea", fields });
      expect(event.thread).toEqual(thread);
    }
  });

  it("does not go back to an address of an event that comes late", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const { thread } = await send(root, { id: "1", region: "amer" });
    await send(root, { id: "3", region: "emea" });
    const late = await send(root, { id: "2", region: "amer" });
    expect(late.thread).toEqual(thread);
    const object = bot.open();
    bot.clock.now += 61_000;
    await object.platform.parse(late, object.context);
    expect(await pathOfPost(object, thread.id)).toMatch(/^\/emea\//);
  });

  it("goes back when a newer event says so", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    const { thread } = await send(root, { id: "1", region: "amer" });
    await send(root, { id: "2", region: "emea" });
    await send(root, { id: "3", region: "amer" });
    expect(await pathOfPost(bot.open(), thread.id)).toMatch(/^\/amer\//);
  });

  it("stores nothing for a chat whose address stays", async () => {
    const bot = createTeamsBot();
    const root = bot.open();
    await send(root, { id: "1", region: "amer" });
    await send(root, { id: "2", region: "amer" });
    const keys = bot.database.all<{ key: string }>("SELECT key FROM adapter_state_v1").map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith("switchboard:"))).toEqual([]);
  });
});
