import { createDiscordAdapter } from "@chat-adapter/discord";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { createMockState } from "@chat-adapter/tests";
import type { Adapter } from "chat";
import { describe, expect, it } from "vitest";
import { attachmentOf, fetchAttachment } from "../../../../providers/chat-sdk/attachments.ts";
import { errorCode } from "../../../../src/core/base/errors.ts";
import { inspect } from "node:util";

const SLACK = { botToken: "xoxb-psst", signingSecret: "s" };
const slack = (): Adapter => createSlackAdapter(SLACK);
const whatsapp = (apiUrl?: string): Adapter =>
  createWhatsAppAdapter({
    accessToken: "EAA-psst",
    appSecret: "s",
    phoneNumberId: "1",
    verifyToken: "v",
    userName: "shop",
    ...(apiUrl !== undefined && { apiUrl }),
  });
const discord = (): Adapter =>
  createDiscordAdapter({ applicationId: "1", botToken: "psst", publicKey: "ab".repeat(32) });
const teams = (): Adapter => createTeamsAdapter({ appId: "app", appPassword: "psst", appTenantId: "tenant" });

type Answers = Readonly<Record<string, () => Response>>;

interface Fetched {
  /** Each request: its address, and the token that it carried. */
  readonly asked: readonly (readonly [url: string, token: string | undefined])[];
  readonly text: string | undefined;
  readonly mediaType: string | undefined;
  readonly code: string | undefined;
}

/** Fetches a file as the bot does: from what is stored of it, by a network that has these answers only. */
async function load(
  adapter: Adapter,
  metadata: Record<string, string>,
  answers: Answers,
  {
    hosts,
    maxBytes = 1000,
    mimeType = "image/png",
  }: Partial<{ hosts: string[]; maxBytes: number; mimeType: string }> = {},
): Promise<Fetched> {
  const asked: [string, string | undefined][] = [];
  const network: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    asked.push([url, new Headers(init?.headers).get("authorization") ?? undefined]);
    expect(init?.redirect).toBe("manual");
    return answers[url]?.() ?? new Response("nothing", { status: 404 });
  };
  const { reference } = attachmentOf({ type: "image", mimeType, fetchMetadata: metadata });
  try {
    const file = await fetchAttachment(reference, adapter, {
      ready: async () => ({ state: createMockState() }),
      fetch: network,
      maxBytes,
      signal: new AbortController().signal,
      ...(hosts !== undefined && { hosts }),
    });
    const text = new TextDecoder().decode(file.bytes);
    return { asked, text, mediaType: file.mediaType, code: undefined };
  } catch (error) {
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("psst");
    return { asked, text: undefined, mediaType: undefined, code: errorCode(error) };
  }
}

const ok =
  (text = "bytes") =>
  (): Response =>
    new Response(text, { headers: { "content-type": "image/png" } });
const to = (location: string) => (): Response => new Response(null, { status: 302, headers: { location } });

describe("a file that somebody sends on Slack", () => {
  const url = "https://files.slack.com/files-pri/T1-F1/a.png";

  it("is fetched with the bot's token, which goes to Slack only", async () => {
    expect(
      await load(
        slack(),
        { url, teamId: "T1" },
        { [url]: to("https://cdn.example/a.png"), "https://cdn.example/a.png": ok() },
      ),
    ).toMatchObject({
      text: "bytes",
      mediaType: "image/png",
      asked: [
        [url, "Bearer xoxb-psst"],
        ["https://cdn.example/a.png", undefined],
      ],
    });
  });

  it.each([
    "http://files.slack.com/a.png",
    "https://files.slack.com:8443/a.png",
    "https://files.slack.com.example/a.png",
    "https://notslack.com/a.png",
  ])("never sends the token to %s", async (other) => {
    const { asked } = await load(slack(), { url }, { [url]: to(other), [other]: ok() });
    expect(asked.filter(([, token]) => token !== undefined)).toEqual([[url, "Bearer xoxb-psst"]]);
  });

  it("is fetched with the token of its own workspace by an app of several", async () => {
    const adapter = createSlackAdapter({
      signingSecret: "s",
      clientId: "1",
      clientSecret: "s",
      installationProvider: {
        getInstallation: async (id) => ({ botToken: `xoxb-${id}`, botUserId: "B" }),
      },
    });
    expect(await load(adapter, { url, teamId: "T1" }, { [url]: ok() })).toMatchObject({
      text: "bytes",
      asked: [[url, "Bearer xoxb-T1"]],
    });
    expect(
      await load(
        adapter,
        { url, teamId: "T1", enterpriseId: "E1", isEnterpriseInstall: "true" },
        { [url]: ok() },
      ),
    ).toMatchObject({ asked: [[url, "Bearer xoxb-E1"]] });
  });

  it("is not taken for the page on which Slack asks to sign in", async () => {
    const page = (): Response =>
      new Response("<html>", { headers: { "content-type": "text/html; charset=utf-8" } });
    expect(await load(slack(), { url }, { [url]: page })).toMatchObject({ code: "attachment-refused" });
    expect(await load(slack(), { url }, { [url]: page }, { mimeType: "text/html" })).toMatchObject({
      text: "<html>",
    });
  });

  it("is fetched from the platform's own servers also if other hosts are listed, and from no others", async () => {
    const hosts = ["files.example"];
    expect(await load(slack(), { url }, { [url]: ok() }, { hosts })).toMatchObject({ text: "bytes" });
    expect(await load(slack(), { url }, { [url]: to("https://cdn.example/a") }, { hosts })).toMatchObject({
      code: "attachment-address",
    });
  });

  it("is refused when it has more bytes than are allowed", async () => {
    expect(await load(slack(), { url }, { [url]: ok("12345") }, { maxBytes: 4 })).toMatchObject({
      code: "attachment-too-large",
    });
  });
});

describe("a file that somebody sends on WhatsApp", () => {
  const media = "https://graph.facebook.com/v25.0/77";
  const url = "https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=77";

  it("is asked for by its id, and fetched with the token", async () => {
    const answers = { [media]: () => Response.json({ url, mime_type: "image/png" }), [url]: ok() };
    expect(await load(whatsapp(), { mediaId: "77" }, answers)).toMatchObject({
      text: "bytes",
      asked: [
        [media, "Bearer EAA-psst"],
        [url, "Bearer EAA-psst"],
      ],
    });
  });

  it.each([
    ["another server", "https://files.example/a", undefined],
    ["a server of this machine", "http://127.0.0.1/a", "attachment-address"],
  ])("does not bring the token to %s", async (_name, other, code) => {
    const answers = { [media]: () => Response.json({ url: other }), [other]: ok() };
    const found = await load(whatsapp(), { mediaId: "77" }, answers);
    expect(found.asked.filter(([, token]) => token !== undefined)).toEqual([[media, "Bearer EAA-psst"]]);
    expect(found.code).toBe(code);
  });

  it("may lie on the server of the API, wherever that is", async () => {
    const api = "http://127.0.0.1:9000";
    const answers = {
      [`${api}/v25.0/77`]: () => Response.json({ url: `${api}/file` }),
      [`${api}/file`]: ok(),
    };
    expect(await load(whatsapp(api), { mediaId: "77" }, answers)).toMatchObject({ text: "bytes" });
  });

  it("may be fetched later if Meta does not tell its address now", async () => {
    const redirect = { [media]: to("https://files.example/") };
    expect(await load(whatsapp(), { mediaId: "77" }, redirect)).toMatchObject({ code: "attachment-failed" });
    expect(await load(whatsapp(), { mediaId: "77" }, {})).toMatchObject({ code: "attachment-failed" });
    const odd = { [media]: () => Response.json({ error: "psst" }) };
    expect(await load(whatsapp(), { mediaId: "77" }, odd)).toMatchObject({ code: "attachment-failed" });
  });
});

describe("a file with a signed address", () => {
  it.each([
    ["Discord", discord, "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&hm=2"],
    ["Teams", teams, "https://tenant.sharepoint.com/download?tempauth=1"],
  ])("is fetched without a token on %s", async (_name, adapter, url) => {
    expect(await load(adapter(), { url }, { [url]: ok() })).toMatchObject({
      text: "bytes",
      asked: [[url, undefined]],
    });
    const elsewhere = { [url]: to("https://cdn.example/a") };
    const hosts = ["files.example"];
    expect(await load(adapter(), { url }, { [url]: ok() }, { hosts })).toMatchObject({ text: "bytes" });
    expect(await load(adapter(), { url }, elsewhere, { hosts })).toMatchObject({
      code: "attachment-address",
    });
  });
});

describe("a file that somebody sends on Google Chat", () => {
  const url = "https://chat.googleapis.com/v1/media/Q2x4/a=?alt=media";
  const metadata = { resourceName: "Q2x4/a=" };
  const gchat = (): Adapter =>
    createGoogleChatAdapter({
      auth: { getAccessToken: async () => ({ token: "ya29-psst" }) } as never,
      googleChatProjectNumber: "1",
    });

  it("is fetched with the bot's token, which goes to Google only", async () => {
    const other = "https://cdn.example/a";
    expect(await load(gchat(), metadata, { [url]: to(other), [other]: ok() })).toMatchObject({
      text: "bytes",
      mediaType: "image/png",
      asked: [
        [url, "Bearer ya29-psst"],
        [other, undefined],
      ],
    });
  });

  it("is read no further than is allowed", async () => {
    let pieces = 0;
    const large = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(stream) {
            pieces += 1;
            if (pieces > 1000) stream.close();
            else stream.enqueue(new Uint8Array(1000));
          },
        }),
      );
    expect(await load(gchat(), metadata, { [url]: large })).toMatchObject({ code: "attachment-too-large" });
    expect(pieces).toBeLessThan(10);
  });
});
