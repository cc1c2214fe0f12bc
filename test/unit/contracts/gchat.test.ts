import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { GoogleChatEmulator } from "../../contracts/gchat/emulator.ts";
import { TokenKey } from "../../contracts/json-web-token.ts";

const API = "https://api.example";
const ada = { id: "7001", name: "Ada 1" };

interface Credentials {
  readonly credentials: { readonly client_email: string; readonly private_key: string };
}

/** Gets a token as the client library does, with a key that the test knows. */
async function signIn(emulator: GoogleChatEmulator, assertion: string): Promise<Response> {
  const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const body = new URLSearchParams({ grant_type, assertion });
  return emulator.answer(new Request(`${API}/token`, { method: "POST", body }));
}

const accountKey = new TokenKey("account-key");

class Caller {
  readonly emulator: GoogleChatEmulator;
  #token = "";

  constructor(now?: () => number) {
    this.emulator = new GoogleChatEmulator({ accountKey, ...(now && { now }) });
  }

  async signIn(): Promise<this> {
    const { credentials } = JSON.parse(this.emulator.env(API)["PLATFORM_OPTIONS"] ?? "") as Credentials;
    const scope = "https://www.googleapis.com/auth/chat.bot";
    const claims = { iss: credentials.client_email, scope, exp: 9_999_999_999 };
    const response = await signIn(this.emulator, accountKey.sign(claims));
    this.#token = ((await response.json()) as { readonly access_token: string }).access_token;
    return this;
  }

  call(method: string, path: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return this.emulator.answer(new Request(`${API}/v1/${path}`, init));
  }

  async post(
    place: string,
    body: object,
    query = "",
  ): Promise<{ readonly status: number; readonly name: string }> {
    const response = await this.call("POST", `${place}/messages${query}`, body);
    const { name = "" } = (await response.json()) as { readonly name?: string };
    return { status: response.status, name };
  }
}

describe("the emulator of Google Chat", () => {
  it("gives a token for a JWT of the service account alone", async () => {
    const { emulator } = new Caller();
    const refused = await signIn(
      emulator,
      new TokenKey("other").sign({ iss: "somebody", exp: 9_999_999_999 }),
    );
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: "invalid_grant" }]);
    const anonymous = await emulator.answer(new Request(`${API}/v1/${emulator.shared("team")}`));
    expect([anonymous.status, await anonymous.json()]).toMatchObject([
      401,
      { error: { status: "UNAUTHENTICATED" } },
    ]);
  });

  it("signs its events with a key whose certificate it publishes", async () => {
    const { emulator } = new Caller();
    const acted = await emulator.act({ kind: "write", by: ada, in: emulator.direct(ada), text: "Hello" });
    const [webhook] = acted?.webhooks ?? [];
    const token =
      webhook?.request("https://bot.example/").headers.get("authorization")?.slice("Bearer ".length) ?? "";
    const [header = "", claims = ""] = token
      .split(".")
      .map((part) => Buffer.from(part, "base64url").toString());
    expect(JSON.parse(claims)).toMatchObject({ iss: "chat@system.gserviceaccount.com", aud: "1234567890" });
    const path = "/service_accounts/v1/metadata/x509/chat%40system.gserviceaccount.com";
    const response = await emulator.answer(new Request(`${API}${path}`));
    const certificates = (await response.json()) as Record<string, string>;
    const { kid } = JSON.parse(header) as { readonly kid: string };
    const certificate = new X509Certificate(certificates[kid] ?? "");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it("shows lists by their documented signs alone", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    const text = "- one\n    * two\n  - no level\n• no sign";
    await caller.post(place, { text, markupSyntax: "MARKUP_SYNTAX_CHAT" });
    const [message] = caller.emulator.seen(place);
    expect(message?.text).toBe("• one\n    • two\n  - no level\n• no sign");
    expect(message?.marks).toEqual([
      { kind: "item", text: "one" },
      { kind: "item", text: "two" },
    ]);
  });

  it("keeps what the bot posts, edits and deletes", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    const text = "See *this* and <https://example.com|that>";
    const { name } = await caller.post(place, { text, markupSyntax: "MARKUP_SYNTAX_CHAT" });
    expect(caller.emulator.seen(place)).toMatchObject([
      {
        id: name,
        by: "bot",
        text: "See this and that",
        marks: [
          { kind: "link", url: "https://example.com" },
          { kind: "bold", text: "this" },
        ],
      },
    ]);
    const edit = { text: "Done", cardsV2: [] };
    expect((await caller.call("PUT", `${name}?updateMask=text,cardsV2`, edit)).status).toBe(200);
    expect(caller.emulator.seen(place)).toMatchObject([{ text: "Done", isEdited: true }]);
    expect((await caller.call("DELETE", name)).status).toBe(200);
    expect(caller.emulator.seen(place)).toEqual([]);
    expect((await caller.call("PUT", `${name}?updateMask=text`, edit)).status).toBe(404);
  });

  it("refuses as Google Chat does", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    expect((await caller.post(place, {})).status).toBe(400);
    expect((await caller.post(place, { text: "ä".repeat(16_001) })).status).toBe(400);
    expect((await caller.post(place, { text: "ä".repeat(16_000) })).status).toBe(200);
    expect((await caller.call("GET", `${place}/messages`)).status).toBe(403);
    expect((await caller.post("spaces/unknown", { text: "Hello" })).status).toBe(404);
    caller.emulator.shut(place);
    expect((await caller.post(place, { text: "Hello" })).status).toBe(403);
  });

  it("makes one message for one requestId, and finds it by the app's own id", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    const query = "?requestId=r-1&messageId=client-one";
    const first = await caller.post(place, { text: "Hello" }, query);
    expect(await caller.post(place, { text: "Hello" }, query)).toEqual(first);
    expect(caller.emulator.seen(place)).toHaveLength(1);
    expect((await caller.post(place, { text: "Again" }, "?requestId=r-2&messageId=client-one")).status).toBe(
      409,
    );
    const found = await caller.call("GET", `${place}/messages/client-one`);
    expect(await found.json()).toMatchObject({ name: first.name });
  });

  it("answers in a thread only with an option for it", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    const acted = await caller.emulator.act({
      kind: "write",
      by: ada,
      in: place,
      text: "Hello",
      isMention: true,
    });
    const root = await caller.call("GET", String(acted?.messageId));
    const { thread } = (await root.json()) as { readonly thread: object };
    const option = "?messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD";
    await caller.post(place, { text: "In it", thread }, option);
    await caller.post(place, { text: "Outside", thread });
    const [, inside, outside] = caller.emulator.seen(place);
    expect([inside?.threadOf, outside?.threadOf]).toEqual([acted?.messageId, undefined]);
  });

  it("shows private words to one person, and reports a press with the card's parameters", async () => {
    const caller = await new Caller().signIn();
    const place = caller.emulator.shared("team");
    await caller.emulator.act({ kind: "write", by: ada, in: place, text: "Hello" });
    await caller.post(place, { text: "Psst", privateMessageViewer: { name: "users/7001" } });
    expect(caller.emulator.seen(place).at(-1)).toMatchObject({ text: "Psst", onlyFor: "7001" });
    const action = { function: "https://bot.example/", parameters: [{ key: "actionId", value: "yes" }] };
    const widgets = [
      { textParagraph: { text: "<b>Sure?</b> *x*" } },
      { buttonList: { buttons: [{ text: "Yes", onClick: { action } }] } },
    ];
    const card = await caller.post(place, { cardsV2: [{ cardId: "c", card: { sections: [{ widgets }] } }] });
    expect(caller.emulator.seen(place).at(-1)).toMatchObject({ text: "Sure? *x*", buttons: ["Yes"] });
    const press = { kind: "press", by: ada, in: place, messageId: card.name, label: "Yes" } as const;
    const acted = await caller.emulator.act(press);
    expect(await acted?.webhooks[0]?.request("https://bot.example/").json()).toMatchObject({
      type: "CARD_CLICKED",
      common: { parameters: { actionId: "yes" } },
      message: { name: card.name },
    });
  });

  it("lets all apps write 60 times a minute in a space", async () => {
    let now = 0;
    const caller = await new Caller(() => now).signIn();
    const place = caller.emulator.shared("team");
    for (let count = 0; count < 60; count += 1) await caller.post(place, { text: "Hello" });
    expect((await caller.post(place, { text: "Hello" })).status).toBe(429);
    now += 60_000;
    expect((await caller.post(place, { text: "Hello" })).status).toBe(200);
  });
});
