import { createDiscordAdapter } from "@chat-adapter/discord";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatSdkMessengerOptions, ChatSdkUpdate } from "../../../../../providers/chat-sdk/index.ts";
import { startPlatformStub } from "../platform-stub.ts";
import type { PlatformStub } from "../platform-stub.ts";
import { createRig, postRequest, type Rig } from "../rig.ts";
import {
  accessToken,
  appSecret,
  messagesRequest,
  phoneNumberId,
  reaction,
  verifyToken,
} from "../whatsapp-webhooks.ts";

let stub: PlatformStub;
beforeAll(async () => {
  stub = await startPlatformStub();
  stub.answer({ status: 200, body: { ok: false, error: "none" } });
});
afterAll(() => stub.close());

type Options = Partial<ChatSdkMessengerOptions>;
const webhookVerifier = () => true;

const slackRig = (options: Options): Rig =>
  createRig(
    createSlackAdapter({ apiUrl: `${stub.url}/`, botToken: "xoxb-1", botUserId: "UBOT", webhookVerifier }),
    options,
  );

const slackReaction = (event: object): Request =>
  postRequest(
    JSON.stringify({
      type: "event_callback",
      event: {
        type: "reaction_added",
        user: "U1",
        reaction: "+1",
        item: { type: "message", channel: "C1", ts: "1.1" },
        event_ts: "5.5",
        ...event,
      },
    }),
  );

async function read(rig: Rig, request: Request) {
  const { accepted, ignored, response } = await rig.receive(request);
  const [incoming] = accepted;
  return { response, ignored, incoming, event: incoming && (await rig.parse(incoming)) };
}

describe("a reaction", () => {
  it("on Slack is one of the person to the message, known again when it is delivered again", async () => {
    const rig = slackRig({ reactions: true });
    const { event, incoming } = await read(rig, slackReaction({}));
    expect(event).toMatchObject({
      kind: "reaction",
      author: { userId: "U1" },
      thread: { chatId: "slack:C1" },
      reaction: { messageId: "1.1", added: ["👍"], removed: [] },
    });
    expect(event?.reaction).not.toHaveProperty("current");
    expect(incoming?.isOfChat).toBe(true);
    expect((await read(rig, slackReaction({}))).incoming?.key).toBe(incoming?.key);
    expect((await read(rig, slackReaction({ event_ts: "7.7" }))).incoming?.key).not.toBe(incoming?.key);
    const removed = await read(rig, slackReaction({ type: "reaction_removed", reaction: "shipit" }));
    expect(removed.event?.reaction).toMatchObject({ added: [], removed: ["custom:shipit"] });
  });

  it("of the bot itself is none", async () => {
    const { ignored } = await read(slackRig({ reactions: true }), slackReaction({ user: "UBOT" }));
    expect(ignored).toEqual(["own reaction"]);
  });

  it("is only counted by a bot that does not ask for reactions", async () => {
    const { ignored, incoming } = await read(slackRig({}), slackReaction({}));
    expect([ignored, incoming]).toEqual([["reaction"], undefined]);
  });

  it("on Discord may be made again after it was taken back", async () => {
    const adapter = createDiscordAdapter({ applicationId: "100", botToken: "token", webhookVerifier });
    const rig = createRig(adapter, { reactions: true });
    const react = async () => {
      const data = {
        user_id: "5",
        channel_id: "2",
        channel_type: 0,
        guild_id: "1",
        message_id: "3",
        emoji: { name: "🔥", id: null },
        user: { id: "5", username: "ada" },
      };
      const body = JSON.stringify({ type: "GATEWAY_MESSAGE_REACTION_ADD", timestamp: 1, data });
      return read(rig, postRequest(body, { "x-discord-gateway-token": "token" }));
    };
    const { event, incoming } = await react();
    expect(event).toMatchObject({
      kind: "reaction",
      thread: { chatId: "discord:1:2" },
      reaction: { messageId: "3", added: ["🔥"] },
    });
    Object.assign(rig.context.deps.clock, { now: () => 1_800_000_001_000 });
    expect((await react()).incoming?.key).not.toBe(incoming?.key);
  });

  it("on WhatsApp is taken back without a name", async () => {
    const credentials = { accessToken, appSecret, phoneNumberId, verifyToken, userName: "shop" };
    const rig = createRig(createWhatsAppAdapter(credentials), { reactions: true });
    const added = await read(rig, messagesRequest(reaction("wamid.2")));
    expect(added.event?.reaction).toEqual({ messageId: "wamid.1", added: ["👍"], removed: [] });
    const none = { ...reaction("wamid.3"), reaction: { message_id: "wamid.1", emoji: "" } };
    const { event } = await read(rig, messagesRequest(none));
    expect(event?.reaction).toEqual({ messageId: "wamid.1", added: [], removed: [] });
  });

  it("on Teams is one event for each emoji of its activity", async () => {
    const adapter = createTeamsAdapter({ appId: "app", appPassword: "p", appTenantId: "t" });
    adapter.initialize = async (chat) => void Reflect.set(adapter, "chat", chat);
    adapter.handleWebhook = async (request) => {
      const activity = (await request.json()) as object;
      Reflect.set(adapter, "bridgeAdapter", { getWebhookOptions: () => undefined });
      const handle: unknown = Reflect.get(adapter, "handleReactionFromContext");
      if (typeof handle === "function") handle.call(adapter, { activity });
      return new Response("");
    };
    const rig = createRig(adapter, { reactions: true });
    const activity = {
      type: "messageReaction",
      id: "f:1",
      from: { id: "29:1", name: "Ada" },
      conversation: { id: "19:c@thread.tacv2;messageid=16" },
      replyToId: "16",
      serviceUrl: "https://smba.example/",
      reactionsAdded: [{ type: "like" }, { type: "heart" }],
    };
    const { accepted } = await rig.receive(postRequest(JSON.stringify(activity)));
    const events = await Promise.all(accepted.map(rig.parse));
    expect(events.map(({ reaction }) => [reaction?.messageId, reaction?.added])).toEqual([
      ["16", ["👍"]],
      ["16", ["❤️"]],
    ]);
    expect(new Set(accepted.map(({ key }) => key)).size).toBe(2);
  });
});

describe("a form that was sent on Slack", () => {
  const submit = (): Request => {
    const payload = {
      type: "view_submission",
      trigger_id: "T1",
      user: { id: "U1", username: "ada", name: "Ada" },
      view: {
        id: "V1",
        callback_id: "order",
        private_metadata: JSON.stringify({ m: "table 4" }),
        state: { values: { block: { dish: { type: "plain_text_input", value: "Soup" } } } },
      },
    };
    return postRequest(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), {
      "content-type": "application/x-www-form-urlencoded",
    });
  };

  it("reaches the bot's code with what the person has filled in", async () => {
    const heard: ChatSdkUpdate[] = [];
    const rig = slackRig({ onUpdate: ({ update }) => void heard.push(update) });
    const { event, incoming, response } = await read(rig, submit());
    expect([response.status, await response.text(), event?.kind]).toEqual([200, "", "update"]);
    expect((await read(rig, submit())).incoming?.key).toBe(incoming?.key);
    if (event !== undefined) await rig.platform.handleUpdate?.(event, rig.context, (name) => name);
    expect(heard).toEqual([
      expect.objectContaining({
        kind: "modal submitted",
        key: incoming?.key,
        author: expect.objectContaining({ userId: "U1" }),
        callbackId: "order",
        privateMetadata: "table 4",
        values: { dish: "Soup" },
      }),
    ]);
  });

  it("is only counted by a bot without such code", async () => {
    const rig = slackRig({});
    const { ignored, response } = await read(rig, submit());
    expect([response.status, ignored, rig.platform.handleUpdate]).toEqual([
      200,
      ["modal submitted"],
      undefined,
    ]);
  });
});

describe("an interaction on Slack", () => {
  const secrets = { token: "app-token", response_url: "https://hooks.slack.com/actions/T1/1/answer-token" };
  const user = { id: "U1", username: "ada", name: "Ada" };
  const channel = { id: "C1", name: "general" };
  const form = (payload: Record<string, string>): Request =>
    postRequest(new URLSearchParams(payload).toString(), {
      "content-type": "application/x-www-form-urlencoded",
    });
  const press = {
    type: "block_actions",
    ...secrets,
    trigger_id: "T1",
    user,
    channel,
    message: { ts: "1.1" },
    container: { type: "message", channel_id: "C1", message_ts: "1.1" },
    actions: [{ type: "button", action_id: "yes", action_ts: "2.1" }],
  };
  const { response_url } = secrets;
  const view = { id: "V1", callback_id: "order", private_metadata: "", state: { values: {} } };
  const submission = { type: "view_submission", token: secrets.token, user, view };

  it.each<[string, Request]>([
    ["a press", form({ payload: JSON.stringify(press) })],
    ["a command", form({ command: "/ask", text: "", channel_id: "C1", user_id: "U1", ...secrets })],
    [
      "a form",
      form({
        payload: JSON.stringify({ ...submission, trigger_id: "T1", response_urls: [{ response_url }] }),
      }),
    ],
  ])("is stored without the app's token, and without an address that has one: %s", async (_what, request) => {
    const { incoming } = await read(slackRig({ onUpdate: () => {} }), request);
    expect(JSON.stringify(incoming)).toContain("U1");
    expect(JSON.stringify(incoming)).not.toMatch(/app-token|answer-token/);
  });
});
