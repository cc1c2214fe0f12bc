import { createSlackAdapter } from "@chat-adapter/slack";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { TemplateContext } from "../../../../providers/chat-sdk/index.ts";
import { addressOf, createBot } from "./several-installations.ts";
import { createReceiver } from "../platform-context.ts";
import * as whatsApp from "./whatsapp-webhooks.ts";

/* The real adapter before a WhatsApp that takes messages, and refuses them when its window is closed. */

const chat = `whatsapp:${whatsApp.phoneNumberId}:15551234567`;
const address = { ...addressOf(chat), isDirectMessage: true };
const DAY_MS = 24 * 60 * 60_000;

interface Sent {
  readonly type: string;
  readonly template?: { readonly name: string; readonly components?: unknown };
}
let sent: Sent[];
let isClosed: boolean;

beforeEach(() => {
  sent = [];
  isClosed = false;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_input, init) => {
    const message = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Sent;
    sent.push(message);
    if (isClosed && message.type !== "template") {
      const error = { message: "Re-engagement message", type: "OAuthException", code: 131_047 };
      return Response.json({ error }, { status: 400 });
    }
    return Response.json({ messages: [{ id: `wamid.${sent.length}` }] });
  });
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation(() => undefined);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

const news = ({ text }: TemplateContext) =>
  text === "Secret"
    ? undefined
    : { name: "news", language: "en", components: [{ type: "body", parameters: [{ type: "text", text }] }] };

const whatsAppBot = (options: Parameters<typeof createBot>[1] = { template: news }) =>
  createBot(() => {
    const { accessToken, appSecret, phoneNumberId, verifyToken } = whatsApp;
    return createWhatsAppAdapter({ accessToken, appSecret, phoneNumberId, verifyToken, userName: "shop" });
  }, options);
const types = (): string[] => sent.map(({ type }) => type);
/** The time is that of the person's message. */
const hello = () => whatsApp.messagesRequest(whatsApp.text("wamid.1", "Hello"));
const HEARD_AT = 1_799_999_000_000;

describe("a message to a person on WhatsApp", () => {
  it("is a template 24 hours after they have written, and an ordinary one when they write again", async () => {
    const bot = whatsAppBot();
    const root = bot.open();
    await root.receive(hello());
    const thread = bot.open();
    bot.clock.now = HEARD_AT + DAY_MS - 1;
    expect(await thread.post(address, "In time")).toBe("wamid.1");
    bot.clock.now = HEARD_AT + DAY_MS;
    expect(await thread.post(address, "Too late")).toBe("wamid.2");
    expect(await bot.open().post(address, "Too late, from another object")).toBe("wamid.3");
    expect(types()).toEqual(["text", "template", "template"]);
    expect(sent[1]?.template).toEqual({
      name: "news",
      language: { code: "en" },
      components: [{ type: "body", parameters: [{ type: "text", text: "Too late" }] }],
    });
    await root.receive(
      whatsApp.messagesRequest({ ...whatsApp.buttonReply("wamid.2"), timestamp: "1800090000" }),
    );
    expect(await thread.post(address, "Welcome back")).toBe("wamid.4");
    expect(types().at(-1)).toBe("text");
  });

  it("is an ordinary one for 24 hours after their newest message, even if an older one comes later", async () => {
    const bot = whatsAppBot();
    const root = bot.open();
    await root.receive(hello());
    const older = { ...whatsApp.text("wamid.0", "Hello?"), timestamp: String(HEARD_AT / 1000 - 80_000) };
    await root.receive(whatsApp.messagesRequest(older));
    bot.clock.now = HEARD_AT + DAY_MS - 1;
    await bot.open().post(address, "In time");
    expect(types()).toEqual(["text"]);
  });

  it("is a template however long ago they have written", async () => {
    const bot = whatsAppBot();
    await bot.open().receive(hello());
    bot.clock.now += 400 * DAY_MS;
    await bot.open().post(address, "A year later");
    expect(types()).toEqual(["template"]);
  });

  it("is a template if nothing is known of them, once the bot has listened for 24 hours", async () => {
    const bot = whatsAppBot();
    const other = { ...address, chatId: `${chat}8`, threadId: `${chat}8` };
    await bot.open().receive(hello());
    bot.clock.now += DAY_MS - 1;
    await bot.open().post(other, "May be in time");
    bot.clock.now += 1;
    await bot.open().post(other, "Too late");
    expect(types()).toEqual(["text", "template"]);
  });

  it("is an ordinary one when they have just written, even if it is there before the webhook is answered", async () => {
    const bot = whatsAppBot();
    const root = bot.open();
    await root.receive(hello());
    bot.clock.now += 2 * DAY_MS;
    const message = { ...whatsApp.text("wamid.2", "/help"), timestamp: String(bot.clock.now / 1000) };
    const receiver = createReceiver(async () => {
      await bot.open().post(address, "Here I am");
    });
    await root.platform.receive(whatsApp.messagesRequest(message), root.context, receiver);
    expect(types()).toEqual(["text"]);
  });

  it("is a template if WhatsApp refuses it, or has not delivered the one before", async () => {
    const bot = whatsAppBot();
    isClosed = true;
    expect(await bot.open().post(address, "Hi")).toBe("wamid.2");
    expect(types()).toEqual(["text", "template"]);
    isClosed = false;
    await bot.open().receive(whatsApp.failedRequest(131_047));
    await bot.open().post(address, "Hi again");
    expect(types().at(-1)).toBe("template");
  });

  it("ends if the bot has no template for it", async () => {
    isClosed = true;
    const gone = { kind: "gone", code: "window-closed" };
    expect(await whatsAppBot().open().post(address, "Secret")).toEqual(gone);
    const bot = whatsAppBot({});
    await bot.open().receive(hello());
    expect(await bot.open().post(address, "Hi")).toEqual(gone);
    expect(types()).toEqual(["text", "text"]);
    expect(bot.open().platform.opensWindows).toBe(false);
  });

  it("tells a refused message of another kind apart", async () => {
    const bot = whatsAppBot();
    vi.mocked(fetch).mockImplementation(async () =>
      Response.json({ error: { message: "no", type: "OAuthException", code: 190 } }, { status: 401 }),
    );
    expect(await bot.open().post(address, "Hi")).toMatchObject({ kind: "misconfigured" });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

it("refuses templates of a platform that has none", () => {
  const adapter = createSlackAdapter({ botToken: "xoxb-1", signingSecret: "s" });
  expect(() => chatSdkMessenger({ adapter, verifyWebhook: false, template: news })).toThrow(
    expect.objectContaining({ code: "chat-sdk-template" }),
  );
});
