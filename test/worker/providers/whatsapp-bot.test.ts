import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import type { CardContent } from "../../../src/core/message/content.ts";
import type { CardPress } from "../../../src/index.ts";
import { say } from "../support/scripted-model.ts";
import { createWorld, type World } from "../support/world.ts";

/* A bot with the adapter of WhatsApp and default options, before a Cloud API that keeps what it is sent. */

const phoneNumberId = "106540352242922";
const appSecret = "app-s3cret";
const ADA = "15551234567";

/** A message as the Cloud API gets it. */
interface Sent {
  readonly type: "text" | "interactive";
  readonly text?: { readonly body: string };
  readonly interactive?: {
    readonly body: { readonly text: string };
    readonly action: {
      readonly buttons: readonly { readonly reply: { readonly id: string; readonly title: string } }[];
    };
  };
}

let sent: Sent[];

beforeEach(() => {
  sent = [];
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_address, init) => {
    const message = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Sent;
    if (message.type === undefined) return Response.json({ success: true });
    return Response.json({ messages: [{ id: `wamid.BOT${sent.push(message)}` }] });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function createBot(pressed: CardPress[] = []): World {
  const credentials = {
    accessToken: "EAAG",
    appSecret,
    phoneNumberId,
    verifyToken: "verify",
    userName: "shop",
  };
  return createWorld({
    messengers: () => ({
      whatsapp: chatSdkMessenger({
        adapter: createWhatsAppAdapter(credentials),
        verifyWebhook: false,
        burstMs: 0,
      }),
    }),
    settings: { onAction: async (press) => void pressed.push(press) },
  });
}

async function receive(world: World, message: object): Promise<void> {
  const value = {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: "15550783881", phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: "Ada" }, wa_id: ADA }],
    // In whole seconds: a person takes longer to write than the bot.
    messages: [{ from: ADA, timestamp: String(Math.ceil(Date.now() / 1000) + 1), ...message }],
  };
  const body = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [{ id: "1", changes: [{ field: "messages", value }] }],
  });
  const name = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(appSecret), name, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(body));
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${hex}` };
  const response = await world.fetch("/messengers/whatsapp/webhook", { method: "POST", headers, body });
  expect(response.status).toBe(200);
}

const write = (world: World, id: string, body: string) =>
  receive(world, { id, type: "text", text: { body } });
const tap = (world: World, id: string, button: { readonly id: string; readonly title: string }) =>
  receive(world, { id, type: "interactive", interactive: { type: "button_reply", button_reply: button } });
const texts = () => sent.map(({ interactive, text }) => text?.body ?? interactive?.body.text);
const SOON = { timeout: 10_000 };

async function sayTo(world: World, card: CardContent): Promise<void> {
  const { chats } = await world.stub.listChats();
  const chatId = chats[0]?.chatId ?? "";
  await world.stub.say(card, { messenger: "whatsapp", chatId });
}

const buttons = (...labels: readonly string[]) =>
  labels.map((label, index) => [{ kind: "callback" as const, label, payload: index + 1 }]);

describe("a bot on WhatsApp with default options", () => {
  it("answers whole, in one message that is never edited", async () => {
    const world = createBot();
    await write(world, "wamid.1", "hello there, how are you today?");
    await expect.poll(texts, SOON).toEqual(["You said: hello there, how are you today?"]);
  });

  it("answers whole when the text needs several messages", async () => {
    const world = createBot();
    const long = Array.from({ length: 900 }, (_, index) => `word${index}`).join(" ");
    world.script(() => [say(long)]);
    await write(world, "wamid.1", "Tell me everything");
    await expect.poll(() => texts().join(" "), SOON).toBe(long);
    expect(Math.max(...texts().map((text) => text?.length ?? 0))).toBeLessThanOrEqual(4096);
  });

  it("has cards whose buttons all show, and work", async () => {
    const pressed: CardPress[] = [];
    const world = createBot(pressed);
    await write(world, "wamid.1", "Hi");
    await expect.poll(texts, SOON).toEqual(["You said: Hi"]);
    await sayTo(world, { kind: "card", text: "Refund it?", buttons: buttons("Approve", "Reject", "More") });
    await expect.poll(texts, SOON).toEqual(["You said: Hi", "Refund it?"]);
    const shown = sent[1]?.interactive?.action.buttons.map(({ reply }) => reply) ?? [];
    expect(shown.map(({ title }) => title)).toEqual(["Approve", "Reject", "More"]);
    const [, reject] = shown;
    if (reject !== undefined) await tap(world, "wamid.2", reject);
    await expect.poll(() => pressed.map(({ payload }) => payload), SOON).toEqual([2]);
  });

  it.each([
    ["more buttons than WhatsApp shows", { text: "Which?", labels: ["One", "Two", "Three", "Four"] }],
    ["a label that would be cut off", { text: "Which?", labels: ["Yes, for this request only", "No"] }],
    ["a text that would be cut off", { text: `${"Long. ".repeat(200)}Which?`, labels: ["Yes", "No"] }],
  ])("has a card as numbered options if it has %s", async (_case, { labels, text }) => {
    const pressed: CardPress[] = [];
    const world = createBot(pressed);
    await write(world, "wamid.1", "Hi");
    await expect.poll(texts, SOON).toEqual(["You said: Hi"]);
    await sayTo(world, { kind: "card", text, buttons: buttons(...labels) });
    await expect.poll(() => sent.length, SOON).toEqual(2);
    expect(sent[1]?.type).toBe("text");
    const shown = texts()[1] ?? "";
    expect(shown).toContain(text.slice(-6));
    for (const label of labels) expect(shown).toContain(label);
    await write(world, "wamid.2", "2");
    await expect.poll(() => pressed.map(({ payload }) => payload), SOON).toEqual([2]);
  });
});
