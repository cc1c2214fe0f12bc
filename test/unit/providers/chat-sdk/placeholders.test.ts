import { createDiscordAdapter } from "@chat-adapter/discord";
import { describe, expect, it } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import { createPlatformContext } from "../platform-context.ts";
import { createRig, postRequest } from "./rig.ts";

const TOKEN = "aW50ZXJhY3Rpb24-s3cret";
const NOW = 1_800_000_000_000;
const discord = () =>
  createDiscordAdapter({ applicationId: "100", botToken: "bot", webhookVerifier: () => true });

/** Makes the call that answers a command, or removes its placeholder, at a time after the command. */
async function fill(answer: () => Response, afterMs = 60_000, isRemoval = false) {
  const requests: [method: string | undefined, url: string, body: unknown][] = [];
  const network: typeof fetch = async (input, init) => {
    requests.push([init?.method, input instanceof Request ? input.url : String(input), init?.body]);
    return answer();
  };
  const { context } = createPlatformContext({ fetch: network });
  const { platform } = chatSdkMessenger({ adapter: discord(), verifyWebhook: false });
  const surface = platform.surface(context);
  const placeholder = { messageId: "555", token: TOKEN, shownAt: NOW - afterMs, expiresAt: NOW + 1000 };
  const address = {
    messengerId: "bot",
    chatId: "discord:1:2",
    threadId: "discord:1:2",
    isDirectMessage: false,
  };
  const { signal } = new AbortController();
  const call = isRemoval
    ? surface.removePlaceholder?.(placeholder, { signal })
    : surface.post(address, { text: "**Hi**", entities: [] }, { signal, placeholder });
  const posted: unknown = await call?.catch((error: unknown) => {
    expect(JSON.stringify([error, String(error)])).not.toContain(TOKEN);
    return surface.classifyError(error);
  });
  return { requests, posted };
}

const refused = (status: number, code: number) => () => Response.json({ code, message: "no" }, { status });

describe("a slash command of Discord", () => {
  it("has a placeholder, whose token is nowhere else in its event", async () => {
    const rig = createRig(discord());
    const interaction = {
      id: "555",
      application_id: "100",
      type: 2,
      token: TOKEN,
      guild_id: "1",
      channel_id: "2",
      channel: { id: "2", type: 0 },
      member: { user: { id: "5", username: "ada" } },
      data: { id: "9", name: "ask", type: 1, options: [{ name: "text", type: 3, value: "hello" }] },
    };
    const { accepted, response } = await rig.receive(postRequest(JSON.stringify(interaction)));
    expect(await response.json()).toEqual({ type: 5 });
    const [incoming] = accepted;
    const { placeholder, ...rest } = incoming ?? {};
    expect(placeholder).toEqual({
      messageId: "555",
      token: TOKEN,
      shownAt: NOW,
      expiresAt: NOW + 14.5 * 60_000,
    });
    expect(JSON.stringify(rest)).not.toContain(TOKEN);
    expect(rig.log.join()).not.toContain(TOKEN);
    const event = incoming && (await rig.parse(incoming));
    expect(event?.message).toMatchObject({ id: "555", text: "/ask hello" });
  });

  it("is answered by an edit of the placeholder", async () => {
    const { posted, requests } = await fill(() => Response.json({ id: "777" }));
    expect(posted).toEqual({ messageId: "777" });
    const address = `https://discord.com/api/v10/webhooks/100/${TOKEN}/messages/@original`;
    expect(requests).toEqual([["PATCH", address, JSON.stringify({ content: "**Hi**" })]]);
  });

  it.each([
    ["a token that has expired", refused(401, 50_027)],
    ["a webhook that is unknown", refused(404, 10_015)],
    ["a placeholder that somebody has deleted", refused(404, 10_008)],
  ])("is answered by an ordinary message after %s", async (_case, answer) => {
    expect((await fill(answer)).posted).toEqual({ kind: "missing", code: "placeholder-gone" });
  });

  it("is answered again if the answer comes before Discord shows the placeholder", async () => {
    const { posted } = await fill(refused(404, 10_015), 1000);
    expect(posted).toEqual({ kind: "transient", code: "placeholder-not-shown" });
  });

  it("has its placeholder removed", async () => {
    const { posted, requests } = await fill(() => new Response(null, { status: 204 }), 60_000, true);
    const address = `https://discord.com/api/v10/webhooks/100/${TOKEN}/messages/@original`;
    expect([posted, requests]).toEqual([undefined, [["DELETE", address, undefined]]]);
    const gone = { kind: "missing", code: "placeholder-gone" };
    expect((await fill(refused(404, 10_008), 60_000, true)).posted).toEqual(gone);
    const early = await fill(refused(404, 10_015), 1000, true);
    expect(early.posted).toEqual({ kind: "transient", code: "placeholder-not-shown" });
  });

  it("waits for a rate limit, also of the server in between", async () => {
    const limited = () => Response.json({ retry_after: 2.5 }, { status: 429 });
    expect((await fill(limited)).posted).toMatchObject({ kind: "retry-after", retryAfterMs: 2500 });
    const between = () =>
      new Response("<html>1015</html>", { status: 429, headers: { "retry-after": "30" } });
    expect((await fill(between)).posted).toMatchObject({ kind: "retry-after", retryAfterMs: 30_000 });
  });
});
