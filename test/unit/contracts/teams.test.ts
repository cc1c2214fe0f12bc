import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TeamsEmulator } from "../../contracts/teams/emulator.ts";

const API = "https://api.example";
const ada = { id: "7001", name: "Ada 1" };

interface Options {
  readonly appId: string;
  readonly appPassword: string;
  readonly appTenantId: string;
}

/** A bot that calls the connector with the token of its app. */
class Caller {
  readonly emulator: TeamsEmulator;
  #token = "";

  constructor(now?: () => number) {
    this.emulator = new TeamsEmulator(now && { now });
  }

  get options(): Options {
    return JSON.parse(this.emulator.env(API)["PLATFORM_OPTIONS"] ?? "") as Options;
  }

  async askToken(client_secret: string): Promise<Response> {
    const { appId, appTenantId } = this.options;
    const scope = "https://api.botframework.com/.default";
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: appId,
      client_secret,
      scope,
    });
    return this.emulator.answer(
      new Request(`${API}/${appTenantId}/oauth2/v2.0/token`, { method: "POST", body }),
    );
  }

  async signIn(): Promise<this> {
    const response = await this.askToken(this.options.appPassword);
    this.#token = ((await response.json()) as { readonly access_token: string }).access_token;
    return this;
  }

  call(method: string, conversation: string, rest: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return this.emulator.answer(new Request(`${API}/amer/t/v3/conversations/${conversation}/${rest}`, init));
  }

  async post(conversation: string, activity: object, query = ""): Promise<{ status: number; id: string }> {
    const body = { type: "message", ...activity };
    const response = await this.call("POST", conversation, `activities${query}`, body);
    const { id = "" } = (await response.json()) as { readonly id?: string };
    return { status: response.status, id };
  }
}

describe("the emulator of Teams", () => {
  it("gives a token for the app's secret alone, and asks for it", async () => {
    const caller = new Caller();
    const refused = await caller.askToken("wrong");
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: "invalid_client" }]);
    expect((await caller.post(caller.emulator.direct(ada), { text: "Hello" })).status).toBe(401);
  });

  it("signs its requests with a key that it publishes", async () => {
    const { emulator, options } = new Caller();
    const acted = await emulator.act({ kind: "write", by: ada, in: emulator.direct(ada), text: "Hello" });
    const request = acted?.webhooks[0]?.request("https://bot.example/");
    const [header = "", claims = "", signature = ""] =
      request?.headers.get("authorization")?.slice("Bearer ".length).split(".") ?? [];
    const answer = await emulator.answer(new Request(`${API}/v1/.well-known/keys`));
    const { keys } = (await answer.json()) as { readonly keys: readonly [JsonWebKey] };
    const key = createPublicKey({ key: keys[0], format: "jwk" });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("RSA-SHA256", signed, key, Buffer.from(signature, "base64url"))).toBe(true);
    const body = (await request?.json()) as { readonly serviceUrl: string };
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss: "https://api.botframework.com",
      aud: options.appId,
      serviceurl: body.serviceUrl,
    });
  });

  it("keeps what the bot posts, edits and deletes, in threads of a channel", async () => {
    const caller = await new Caller().signIn();
    const channel = caller.emulator.shared("general");
    const root = await caller.emulator.act({
      kind: "write",
      by: ada,
      in: channel,
      text: "Hello",
      isMention: true,
    });
    const thread = `${channel};messageid=${root?.messageId}`;
    const { id } = await caller.post(thread, { text: "See **this**" });
    expect(caller.emulator.seen(channel).at(-1)).toMatchObject({
      id,
      by: "bot",
      text: "See this",
      threadOf: root?.messageId,
    });
    expect(
      (await caller.call("PUT", thread, `activities/${id}`, { type: "message", text: "Done" })).status,
    ).toBe(200);
    expect(caller.emulator.seen(channel).at(-1)).toMatchObject({ text: "Done", isEdited: true });
    expect((await caller.call("DELETE", thread, `activities/${id}`)).status).toBe(200);
    expect((await caller.call("DELETE", thread, `activities/${id}`)).status).toBe(404);
    expect((await caller.call("DELETE", thread, `activities/${root?.messageId}`)).status).toBe(404);
  });

  it("refuses as Teams does", async () => {
    const caller = await new Caller().signIn();
    const [chat, channel] = [caller.emulator.direct(ada), caller.emulator.shared("general")];
    expect((await caller.post(chat, {})).status).toBe(400);
    expect((await caller.post(chat, { text: "x".repeat(100_000) })).status).toBe(413);
    expect((await caller.post("a:unknown", { text: "Hello" })).status).toBe(404);
    caller.emulator.shut(chat);
    caller.emulator.shut(channel);
    const refused = await caller.call("POST", channel, "activities", { type: "message", text: "Hello" });
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: "BotNotInConversationRoster" } },
    ]);
    expect((await caller.post(chat, { text: "Hello" })).status).toBe(403);
  });

  it("lets the bot post seven times a second in a conversation", async () => {
    let now = 1_000_000;
    const caller = await new Caller(() => now).signIn();
    const chat = caller.emulator.direct(ada);
    for (let count = 0; count < 7; count += 1)
      expect((await caller.post(chat, { text: "Hello" })).status).toBe(201);
    expect((await caller.post(chat, { text: "Hello" })).status).toBe(429);
    now += 1000;
    expect((await caller.post(chat, { text: "Hello" })).status).toBe(201);
  });

  it("shows targeted activities to one person, and reports a press with the data of the action", async () => {
    const caller = await new Caller().signIn();
    const channel = caller.emulator.shared("general");
    const recipient = { id: "29:17001", isTargeted: true };
    await caller.post(channel, { text: "Psst", recipient }, "?isTargetedActivity=true");
    expect(caller.emulator.seen(channel)).toMatchObject([{ text: "Psst", onlyFor: "7001" }]);
    const content = {
      type: "AdaptiveCard",
      body: [{ type: "TextBlock", text: "**Sure?**" }],
      actions: [{ type: "Action.Submit", title: "Yes", data: { actionId: "yes" } }],
    };
    const attachments = [{ contentType: "application/vnd.microsoft.card.adaptive", content }];
    const { id } = await caller.post(channel, { attachments });
    expect(caller.emulator.seen(channel).at(-1)).toMatchObject({ text: "Sure?", buttons: ["Yes"] });
    const acted = await caller.emulator.act({
      kind: "press",
      by: ada,
      in: channel,
      messageId: id,
      label: "Yes",
    });
    expect(await acted?.webhooks[0]?.request("https://bot.example/").json()).toMatchObject({
      type: "message",
      replyToId: id,
      value: { actionId: "yes" },
    });
  });

  it.each([
    ["a strikethrough", "~~old~~"],
    ["a line rule", "above\n\n---\n\nbelow"],
    ["a picture", "![the shop](https://e.com/p.png)"],
    ["code", "`a`"],
    ["a heading", "# Plan"],
    ["a quote", "> said"],
  ])(
    "shows the source of %s in a card, which knows bold, italic, lists and links alone",
    async (_kind, text) => {
      const caller = await new Caller().signIn();
      const channel = caller.emulator.shared("general");
      const body = [
        { type: "TextBlock", text: `**New** *very* [a link](https://e.com)\n\n- one\n\n${text}` },
      ];
      const content = { type: "AdaptiveCard", body };
      const attachments = [{ contentType: "application/vnd.microsoft.card.adaptive", content }];
      await caller.post(channel, { attachments });
      const [card] = caller.emulator.seen(channel);
      for (const line of text.split("\n\n")) expect(card?.text).toContain(line);
      expect(card?.marks.map(({ kind }) => kind)).toEqual(["bold", "italic", "link", "item"]);
    },
  );

  it("gives the bytes of a file at the address that it reports", async () => {
    const { emulator } = new Caller();
    const files = [{ name: "a.png", mediaType: "image/png", bytes: new Uint8Array([1, 2, 3]) }];
    const acted = await emulator.act({
      kind: "write",
      by: ada,
      in: emulator.direct(ada),
      text: "Look",
      files,
    });
    const body = (await acted?.webhooks[0]?.request("https://bot.example/").json()) as {
      readonly attachments: readonly [{ readonly content: { readonly downloadUrl: string } }];
    };
    const download = await emulator.answer(new Request(body.attachments[0].content.downloadUrl));
    expect(new Uint8Array(await download.arrayBuffer())).toEqual(files[0]?.bytes);
  });
});
