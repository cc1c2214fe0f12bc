import { createHmac } from "node:crypto";
import { createSlackAdapter } from "@chat-adapter/slack";
import { beforeEach, describe, expect, it } from "vitest";
import { addressOf, createBot, install, NOW, secret, useStub } from "./several-installations.ts";

/* The real adapters with one app in several workspaces, each object of the bot with an adapter of its own. */

const stub = useStub();

describe("Slack in several workspaces", () => {
  const adapter = () =>
    createSlackAdapter({
      apiUrl: `${stub.url}/`,
      signingSecret: secret,
      clientId: "1.2",
      clientSecret: "client-secret",
    });
  const slackBot = () => createBot(adapter, { install: {} });
  let revoked: Set<string>;
  let issued: number;

  beforeEach(() => {
    revoked = new Set();
    issued = 0;
    stub.answer = ({ authorization, body, path }) => {
      if (path === "/oauth.v2.access") {
        const team = new URLSearchParams(body).get("code") ?? "";
        issued += 1;
        return {
          body: {
            ok: true,
            access_token: `xoxb-${team}-${issued}`,
            bot_user_id: `UBOT${team}`,
            team: { id: team, name: team },
            is_enterprise_install: false,
          },
        };
      }
      if (revoked.has(authorization)) return { body: { ok: false, error: "token_revoked" } };
      if (path === "/chat.postMessage") return { body: { ok: true, ts: "9.9", channel: "C", message: {} } };
      return {
        body: { ok: true, user: { id: "U1", name: "ada", profile: {} }, channel: { id: "C", name: "c" } },
      };
    };
  });

  const signed = (body: string, headers: Record<string, string> = {}): Request => {
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex");
    return new Request("https://bot.example/messengers/bot/webhook", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-slack-request-timestamp": time,
        "x-slack-signature": `v0=${signature}`,
        ...headers,
      },
      body,
    });
  };
  const event = (team: string, inner: object, eventTime = NOW / 1000 + 10) =>
    JSON.stringify({
      type: "event_callback",
      team_id: team,
      event_id: `Ev${team}`,
      event_time: eventTime,
      authorizations: [{ team_id: team, enterprise_id: null, is_enterprise_install: false }],
      event: inner,
    });
  const mention = (team: string, channel: string, ts = "1.1") =>
    event(team, { type: "app_mention", user: "U1", channel, ts, text: `<@UBOT${team}> hi`, team });
  const posts = () =>
    stub.calls.filter(({ path }) => path === "/chat.postMessage").map(({ authorization }) => authorization);

  it("answers two workspaces, each with its own token, from objects that never saw a webhook", async () => {
    const bot = slackBot();
    const root = bot.open();
    expect((await install(root, "T1")).status).toBe(200);
    expect((await install(root, "T2")).status).toBe(200);
    expect(await root.receive(signed(mention("T1", "C1")))).toMatchObject({
      status: 200,
      keys: ["m:slack:C1:1.1"],
    });
    expect((await root.receive(signed(mention("T2", "C2")))).status).toBe(200);
    const [one, other] = [bot.open(), bot.open()];
    await Promise.all([
      one.post(addressOf("slack:C1", "slack:C1:1.1"), "Hi"),
      other.post(addressOf("slack:C2", "slack:C2:1.1"), "Hi"),
    ]);
    await one.post(addressOf("slack:C2"), "Hi");
    expect(posts().toSorted()).toEqual(["xoxb-T1-1", "xoxb-T2-2", "xoxb-T2-2"]);
    expect(bot.secretNames()).toEqual([
      "adapter:bot:slack:installation:T1",
      "adapter:bot:slack:installation:T2",
    ]);
    const stored = JSON.stringify(bot.database.all("SELECT * FROM adapter_state_v1"));
    expect(stored).not.toContain("xoxb");
  });

  it("knows the bot of a workspace when it searches for a file that was lost", async () => {
    const bot = slackBot();
    await install(bot.open(), "T1");
    await bot.open().receive(signed(mention("T1", "C1")));
    const { context, platform } = bot.open();
    const file = (user: string, ts: string) => ({ ts, user, bot_id: `B${user}`, text: "", files: [{}] });
    stub.answer = () => ({
      body: {
        ok: true,
        messages: [file("UOTHER", "1800000001.000100"), file("UBOTT1", "1800000002.000100")],
      },
    });
    const lost = { key: "k", since: NOW, until: NOW + 9000, isText: () => true, isOther: () => false };
    const signal = new AbortController().signal;
    expect(await platform.surface(context).search?.find(addressOf("slack:C1"), lost, { signal })).toEqual([
      { messageId: "1800000002.000100" },
    ]);
  });

  it("asks for its rights, on Slack's page", async () => {
    const { page } = await install(slackBot().open(), "T1");
    expect(page.origin + page.pathname).toBe("https://slack.com/oauth/v2/authorize");
    expect(page.searchParams.get("client_id")).toBe("1.2");
    expect(page.searchParams.get("scope")).toContain("chat:write");
    expect(page.searchParams.get("redirect_uri")).toBe("https://bot.example/messengers/bot/install/callback");
  });

  it.each<[string, (request: Request, clock: { now: number }) => Request]>([
    ["another browser", (request) => new Request(request.url)],
    [
      "the cookie of another installation",
      (request) => new Request(request.url, { headers: { cookie: "switchboard-install=abc" } }),
    ],
    [
      "a state that the bot has not made",
      (request) => {
        const forged = new URL(request.url);
        forged.searchParams.set("state", "abc.def");
        return new Request(forged, { headers: { cookie: "switchboard-install=abc.def" } });
      },
    ],
    [
      "no state",
      (request) => {
        const forged = new URL(request.url);
        forged.searchParams.delete("state");
        return new Request(forged, { headers: { cookie: "switchboard-install=" } });
      },
    ],
    [
      "a state that is too old",
      (request, clock) => {
        clock.now += 11 * 60_000;
        return request;
      },
    ],
  ])("installs nothing with %s", async (_case, change) => {
    const bot = slackBot();
    const { status } = await install(bot.open(), "T1", (request) => change(request, bot.clock));
    expect(status).toBe(403);
    expect(stub.calls).toEqual([]);
    expect(bot.secretNames()).toEqual([]);
  });

  it("says that a person has declined, without the platform's words", async () => {
    const bot = slackBot();
    stub.answer = () => ({ body: { ok: false, error: "invalid_code" } });
    expect((await install(bot.open(), "T1")).status).toBe(400);
    expect(bot.secretNames()).toEqual([]);
  });

  it.each([
    ["app_uninstalled", { type: "app_uninstalled" }],
    ["tokens_revoked", { type: "tokens_revoked", tokens: { bot: ["UBOT"] } }],
  ])("deletes the token after %s, and takes the chat for gone", async (_case, inner) => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await install(root, "T2");
    await root.receive(signed(mention("T1", "C1")));
    expect((await root.receive(signed(event("T1", inner)))).status).toBe(200);
    expect(bot.secretNames()).toEqual(["adapter:bot:slack:installation:T2"]);
    expect(await bot.open().post(addressOf("slack:C1"), "Hi")).toEqual({
      kind: "gone",
      code: "not-installed",
    });
    expect(posts()).toEqual([]);
  });

  it.each([
    ["is not signed", (body: string) => signed(body, { "x-slack-signature": "v0=00" }), NOW / 1000 + 10],
    ["is older than the installation", signed, NOW / 1000 - 60],
  ])("keeps the token if the event %s", async (_case, request, eventTime) => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await root.receive(request(event("T1", { type: "app_uninstalled" }, eventTime)));
    expect(bot.secretNames()).toHaveLength(1);
  });

  it("keeps the bot's token when a person takes back their own", async () => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await root.receive(signed(event("T1", { type: "tokens_revoked", tokens: { oauth: ["U1"], bot: [] } })));
    expect(bot.secretNames()).toHaveLength(1);
  });

  it("refuses a call alone whose scope a workspace has not granted, until it has", async () => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await root.receive(signed(mention("T1", "C1")));
    const other = bot.open();
    const { answer } = stub;
    stub.answer = (call) =>
      call.body.includes("more") && call.authorization === "xoxb-T1-1"
        ? { body: { ok: false, error: "missing_scope", needed: "chat:write.more", provided: "chat:write" } }
        : answer(call);
    expect(await other.post(addressOf("slack:C1"), "more")).toEqual({
      kind: "rejected",
      code: "scope-missing",
    });
    expect(await other.post(addressOf("slack:C1"), "one")).toBe("9.9");
    await install(root, "T1");
    const again = { kind: "transient", code: "token-replaced" };
    expect(await other.post(addressOf("slack:C1"), "more")).toEqual(again);
    expect(await other.post(addressOf("slack:C1"), "more")).toBe("9.9");
  });

  it("reads a token again that was replaced while another object remembered it", async () => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await root.receive(signed(mention("T1", "C1")));
    const other = bot.open();
    expect(await other.post(addressOf("slack:C1"), "one")).toBe("9.9");
    await install(root, "T1");
    revoked.add("xoxb-T1-1");
    expect(await other.post(addressOf("slack:C1"), "two")).toEqual({
      kind: "transient",
      code: "token-replaced",
    });
    expect(await other.post(addressOf("slack:C1"), "two")).toBe("9.9");
    revoked.add("xoxb-T1-2");
    expect(await other.post(addressOf("slack:C1"), "three")).toEqual({ kind: "gone", code: "not-installed" });
  });

  it("takes an event again whose first delivery could not be stored", async () => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    bot.setRootDown(true);
    expect((await root.receive(signed(mention("T1", "C1")))).status).toBe(503);
    bot.setRootDown(false);
    const again = await root.receive(signed(mention("T1", "C1"), { "x-slack-retry-num": "1" }));
    expect(again).toMatchObject({ status: 200, keys: ["m:slack:C1:1.1"] });
  });

  it("asks Slack to send an event again while tokens cannot be read", async () => {
    const bot = slackBot();
    await install(bot.open(), "T1");
    const root = bot.open();
    bot.database.run("UPDATE secret_v1 SET key_id = 'lost'");
    expect((await root.receive(signed(mention("T1", "C1")))).status).toBe(503);
  });

  it("does not make a call while the root cannot be asked for the token", async () => {
    const bot = slackBot();
    const root = bot.open();
    await install(root, "T1");
    await root.receive(signed(mention("T1", "C1")));
    const other = bot.open();
    bot.setRootDown(true);
    expect(await other.post(addressOf("slack:C1"), "Hi")).toEqual({
      kind: "transient",
      code: "no-installation",
    });
    expect(posts()).toEqual([]);
  });
});
