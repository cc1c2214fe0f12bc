import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { expect, it } from "vitest";
import type { WebhookDefinition } from "@octokit/webhooks-examples";
import { DiscordEmulator } from "./discord/emulator.ts";
import { GoogleChatEmulator } from "./gchat/emulator.ts";
import { GitHubEmulator } from "./github/emulator.ts";
import { TokenKey } from "./json-web-token.ts";
import type { Act, Person, PlatformEmulator } from "./platform-emulator.ts";
import { SlackEmulator } from "./slack/emulator.ts";
import { WhatsAppEmulator } from "./whatsapp/emulator.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The fields of webhooks that were recorded on the platforms, with their types. */
const recorded = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../fixtures/webhook-fields.json"), "utf8"),
) as Record<string, readonly string[]>;

const ada: Person = { id: "7", name: "Ada" };

/** Every field with its type, as `event.text: string`. Those of one list are together. */
function fieldsOf(value: Json, at = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => fieldsOf(item, `${at}[]`));
  if (typeof value !== "object" || value === null)
    return [`${at}: ${value === null ? "null" : typeof value}`];
  return Object.entries(value).flatMap(([key, inner]) => fieldsOf(inner, at === "" ? key : `${at}.${key}`));
}

/** Whether a recorded webhook has a field. Any of its fields may be null. */
function isAmong(known: readonly string[], field: string): boolean {
  return known.some((one) =>
    field.endsWith(": null") ? one.startsWith(field.slice(0, -"null".length)) : one === field,
  );
}

async function bodyOf(emulator: PlatformEmulator, act: Act, index = 0): Promise<Json> {
  const acted = await emulator.act(act);
  const request = acted?.webhooks[index]?.request("http://127.0.0.1/webhook");
  if (request === undefined) throw new Error("The platform reports nothing.");
  const text = await request.text();
  if (request.headers.get("content-type")?.includes("json") === true) return JSON.parse(text) as Json;
  const form = Object.fromEntries(new URLSearchParams(text));
  return form["payload"] === undefined ? form : (JSON.parse(form["payload"]) as Json);
}

/** Posts a message with a button, as the bot does. */
async function posted(emulator: PlatformEmulator, request: Request): Promise<string> {
  const answer = (await (await emulator.answer(request)).json()) as {
    readonly ts?: string;
    readonly id?: string;
    readonly name?: string;
  };
  return answer.ts ?? answer.id ?? answer.name ?? "";
}

function post(pathname: string, authorization: string, body: object): Request {
  const headers = { "content-type": "application/json", authorization };
  return new Request(`http://127.0.0.1${pathname}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const slack = (): { emulator: SlackEmulator; direct: string; channel: string } => {
  const emulator = new SlackEmulator();
  return { emulator, direct: emulator.direct(ada), channel: emulator.shared("general") };
};

/** Returns an emulator, and a token of its app. */
async function googleChat(): Promise<{ readonly emulator: GoogleChatEmulator; readonly token: string }> {
  const accountKey = new TokenKey("account-key");
  const emulator = new GoogleChatEmulator({ accountKey });
  const { PLATFORM_OPTIONS = "" } = emulator.env("http://127.0.0.1");
  const { credentials } = JSON.parse(PLATFORM_OPTIONS) as { credentials: { client_email: string } };
  const scope = "https://www.googleapis.com/auth/chat.bot";
  const assertion = accountKey.sign({ iss: credentials.client_email, scope, exp: 9_999_999_999 });
  const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const body = new URLSearchParams({ grant_type, assertion });
  const answer = await emulator.answer(new Request("http://127.0.0.1/token", { method: "POST", body }));
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { emulator, token };
}

const samples: Readonly<Record<string, () => Promise<Json>>> = {
  "slack direct": () => {
    const { direct, emulator } = slack();
    return bodyOf(emulator, { kind: "write", by: ada, in: direct, text: "hello hello" });
  },
  "slack mention": () => {
    const { channel, emulator } = slack();
    return bodyOf(emulator, { kind: "write", by: ada, in: channel, text: "Hey", isMention: true }, 1);
  },
  "slack press": async () => {
    const { channel, emulator } = slack();
    const button = { type: "button", action_id: "channel-post", text: { type: "plain_text", text: "Post" } };
    const blocks = [{ type: "actions", block_id: "kXGLy", elements: [button] }];
    const call = post("/chat.postMessage", "Bearer xoxb-1", {
      channel,
      text: "x",
      blocks,
      thread_ts: "1.000001",
    });
    const messageId = await posted(emulator, call);
    return bodyOf(emulator, { kind: "press", by: ada, in: channel, messageId, label: "Post" });
  },
  "slack command": () => {
    const { channel, emulator } = slack();
    return bodyOf(emulator, { kind: "command", by: ada, in: channel, name: "test-feedback", args: "some" });
  },
  "slack reaction": async () => {
    const { channel, emulator } = slack();
    const messageId = await posted(
      emulator,
      post("/chat.postMessage", "Bearer xoxb-1", { channel, text: "x" }),
    );
    return bodyOf(emulator, { kind: "react", by: ada, in: channel, messageId, emoji: "+1" });
  },
  "gchat direct": async () => {
    const { emulator } = await googleChat();
    return bodyOf(emulator, { kind: "write", by: ada, in: emulator.direct(ada), text: "What is it?" });
  },
  "gchat press": async () => {
    const { emulator, token } = await googleChat();
    const space = emulator.shared("general");
    const action = { function: "approve", parameters: [{ key: "actionId", value: "approve" }] };
    const widgets = [{ buttonList: { buttons: [{ text: "Say", onClick: { action } }] } }];
    const cardsV2 = [{ cardId: "c", card: { sections: [{ widgets }] } }];
    const messageId = await posted(emulator, post(`/v1/${space}/messages`, `Bearer ${token}`, { cardsV2 }));
    return bodyOf(emulator, { kind: "press", by: ada, in: space, messageId, label: "Say" });
  },
  "whatsapp direct": () => {
    const emulator = new WhatsAppEmulator();
    return bodyOf(emulator, { kind: "write", by: ada, in: emulator.direct(ada), text: "What is it?" });
  },
  "discord press": async () => {
    const emulator = new DiscordEmulator();
    const channel = emulator.shared("general");
    const components = [{ type: 1, components: [{ type: 2, style: 1, label: "Say", custom_id: "hello" }] }];
    const call = post(`/channels/${channel}/messages`, "Bot token", { content: "x", components });
    const messageId = await posted(emulator, call);
    return bodyOf(emulator, { kind: "press", by: ada, in: channel, messageId, label: "Say" });
  },
};

// The package declares its list as a default export, and exports the list itself.
const githubRecordings = createRequire(import.meta.url)("@octokit/webhooks-examples") as WebhookDefinition[];

/** Writes, edits and deletes a comment. Returns the bodies of the webhooks. */
async function githubBodies(isReview: boolean): Promise<readonly Json[]> {
  const emulator = new GitHubEmulator({ isReview });
  const place = emulator.shared("an issue");
  const written = await emulator.act({ kind: "write", by: ada, in: place, text: "Hello", isMention: true });
  const messageId = written?.messageId ?? "";
  const acts = [
    await emulator.act({ kind: "edit", by: ada, in: place, messageId, text: "Goodbye" }),
    await emulator.act({ kind: "delete", by: ada, in: place, messageId }),
  ];
  const webhooks = [written, ...acts].flatMap((acted) => acted?.webhooks ?? []);
  return Promise.all(
    webhooks.map(async (webhook) => (await webhook.request("http://127.0.0.1/webhook").json()) as Json),
  );
}

it.each([
  ["issue_comment", false],
  ["pull_request_review_comment", true],
])("sends what GitHub sends: %s", async (event, isReview) => {
  const known = githubRecordings
    .filter(({ name }) => name === event)
    .flatMap(({ examples }) => examples.flatMap((example) => fieldsOf(example as unknown as Json)));
  const bodies = await githubBodies(isReview);
  expect(bodies).toHaveLength(3);
  expect(bodies.flatMap((body) => fieldsOf(body)).filter((field) => !isAmong(known, field))).toEqual([]);
});

/** Fields of the platforms' documents that were taken out of the recordings. */
const TAKEN_OUT = /^message\.(?:text|team|blocks)\b/;

it.each(Object.keys(samples))("sends what the platform sends: %s", async (name) => {
  const [platform = ""] = name.split(" ");
  const known = recorded[platform] ?? [];
  const sent = fieldsOf((await samples[name]?.()) ?? null);
  expect(sent.filter((field) => !isAmong(known, field) && !TAKEN_OUT.test(field))).toEqual([]);
});
