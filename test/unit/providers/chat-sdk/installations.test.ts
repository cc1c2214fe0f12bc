import { createHmac, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import type { Adapter } from "chat";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { ChatSdkMessengerOptions } from "../../../../providers/chat-sdk/index.ts";
import type { MessengerPlatform, PlatformContext } from "../../../../src/core/messenger.ts";
import type { Address, OutgoingMessage } from "../../../../src/core/surface.ts";
import { createPlatformContext, createReceiver } from "../platform-context.ts";

/* The real adapters with one app in several workspaces, each object of the bot with an adapter of its own. */

const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
const secret = "s3cret";
const NOW = 1_800_000_000_000;

interface Call {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}
let calls: Call[] = [];
let answer: (call: Call) => { readonly status?: number; readonly body: unknown };
let url: string;

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const call = {
    path: request.url ?? "",
    authorization: (request.headers.authorization ?? "").replace(/^(?:Bearer|token) /i, ""),
    body: Buffer.concat(chunks).toString("utf8"),
  };
  calls.push(call);
  const { body, status = 200 } = answer(call);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
});
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  calls = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

interface BotObject {
  readonly platform: MessengerPlatform;
  readonly context: PlatformContext;
  readonly receive: (
    request: Request,
  ) => Promise<{ readonly status: number; readonly keys: readonly string[] }>;
  readonly post: (address: Address, text: string) => Promise<unknown>;
}

/** A bot whose objects share the rows of one root. Each `open` is another object, or the same after a restart. */
function createBot(adapter: () => Adapter, options: Partial<ChatSdkMessengerOptions> = {}) {
  const database = createNodeDatabase();
  const clock = { now: NOW };
  let atRoot: object | undefined;
  let isRootDown = false;
  const part = () =>
    new Proxy(
      {},
      {
        get: (_target, method) =>
          typeof method !== "string" || method === "then"
            ? undefined
            : async (...args: unknown[]) => {
                if (isRootDown) throw new Error("the root cannot be reached");
                const call = (atRoot as Record<string, (...given: unknown[]) => unknown>)[method];
                return call?.(...args);
              },
      },
    );
  const open = (): BotObject => {
    const { platform } = chatSdkMessenger({ adapter: adapter(), verifyWebhook: false, ...options });
    const made = createPlatformContext({ atRoot: part(), fetch: globalThis.fetch });
    const deps = { ...made.context.deps, clock: { ...made.context.deps.clock, now: () => clock.now } };
    const context = { ...made.context, deps };
    atRoot ??= platform.atRoot?.({ messengerId: "bot", database, deps, env: { SECRETS_KEY } });
    return {
      platform,
      context,
      async receive(request) {
        const receiver = createReceiver(async () => {
          if (isRootDown) throw new Error("not stored");
        });
        const response = await platform
          .receive(request, context, receiver)
          .catch(() => new Response(null, { status: 503 }));
        return { status: response.status, keys: receiver.accepted.map(({ key }) => key) };
      },
      async post(address, text) {
        const surface = platform.surface(context);
        const message: OutgoingMessage = { text, entities: [] };
        const signal = new AbortController().signal;
        return surface.post(address, message, { signal } as never).then(
          ({ messageId }) => messageId,
          (error: unknown) => surface.classifyError(error),
        );
      },
    };
  };
  const secretNames = () =>
    database
      .all("SELECT name FROM sqlite_master WHERE name = 'secret_v1'")
      .flatMap(() => database.all<{ name: string }>("SELECT name FROM secret_v1 ORDER BY name"))
      .map(({ name }) => name);
  return { open, database, clock, secretNames, setRootDown: (isDown: boolean) => void (isRootDown = isDown) };
}

const addressOf = (chatId: string, threadId = chatId): Address => ({
  messengerId: "bot",
  chatId,
  threadId,
  isDirectMessage: false,
});

/** Presses the link of the installation, accepts, and comes back with a code. */
async function install(
  object: BotObject,
  code: string,
  change: (request: Request) => Request = (same) => same,
) {
  const { context, platform } = object;
  const begun = await platform.install?.(
    new Request("https://bot.example/messengers/bot/install"),
    "begin",
    context,
  );
  const page = new URL(begun?.headers.get("location") ?? "");
  const cookie = begun?.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const back = new URL(page.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("code", code);
  back.searchParams.set("state", page.searchParams.get("state") ?? "");
  const finished = await platform.install?.(
    change(new Request(back, { headers: { cookie } })),
    "finish",
    context,
  );
  return { page, status: finished?.status };
}

describe("Slack in several workspaces", () => {
  const adapter = () =>
    createSlackAdapter({
      apiUrl: `${url}/`,
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
    answer = ({ authorization, body, path }) => {
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
    calls.filter(({ path }) => path === "/chat.postMessage").map(({ authorization }) => authorization);

  it("answers two workspaces, each with its own token, from objects that never saw a webhook", async () => {
    const bot = slackBot();
    const root = bot.open();
    expect((await install(root, "T1")).status).toBe(200);
    expect((await install(root, "T2")).status).toBe(200);
    expect(await root.receive(signed(mention("T1", "C1")))).toEqual({
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
    expect(calls).toEqual([]);
    expect(bot.secretNames()).toEqual([]);
  });

  it("says that a person has declined, without the platform's words", async () => {
    const bot = slackBot();
    answer = () => ({ body: { ok: false, error: "invalid_code" } });
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
    expect(again).toEqual({ status: 200, keys: ["m:slack:C1:1.1"] });
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

describe("a GitHub App with several installations", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const githubBot = () =>
    createBot(() =>
      createGitHubAdapter({
        apiUrl: url,
        appId: "1",
        privateKey: pem,
        webhookSecret: secret,
        userName: "bot",
        botUserId: 99,
      }),
    );

  beforeEach(() => {
    answer = ({ path }) => {
      const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path) ?? [];
      if (id !== undefined)
        return {
          status: 201,
          body: { token: `ghs_${id}`, expires_at: "2099-01-01T00:00:00Z", permissions: {} },
        };
      return { status: 201, body: { id: 5, body: "", user: { id: 99, login: "bot[bot]", type: "Bot" } } };
    };
  });

  const hook = (event: string, payload: object): Request => {
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    return new Request("https://bot.example/messengers/bot/webhook", {
      method: "POST",
      headers: { "x-github-event": event, "x-hub-signature-256": `sha256=${signature}` },
      body,
    });
  };
  const user = { id: 1, login: "ada", type: "User" };
  const comment = (repo: string, installation: number) =>
    hook("issue_comment", {
      action: "created",
      installation: { id: installation },
      repository: {
        id: 1,
        name: repo,
        full_name: `shop/${repo}`,
        owner: { id: 2, login: "shop", type: "User" },
      },
      issue: { number: 1, title: "A" },
      sender: user,
      comment: {
        id: installation,
        body: "@bot hi",
        user,
        created_at: "2026-11-20T10:00:00Z",
        updated_at: "2026-11-20T10:00:00Z",
      },
    });
  const posts = () =>
    calls.filter(({ path }) => path.endsWith("/comments")).map(({ authorization }) => authorization);
  const issue = (repo: string) => addressOf(`github:shop/${repo}`, `github:shop/${repo}:issue:1`);

  it("answers each repository with the token of its installation, also from other objects", async () => {
    const bot = githubBot();
    const root = bot.open();
    expect((await root.receive(comment("web", 11))).status).toBe(200);
    expect((await root.receive(comment("app", 22))).status).toBe(200);
    const other = bot.open();
    expect(await other.post(issue("web"), "Hi")).toBe("5");
    expect(await bot.open().post(issue("app"), "Hi")).toBe("5");
    expect(posts()).toEqual(["ghs_11", "ghs_22"]);
    expect(bot.secretNames()).toEqual([]);
  });

  it("knows a repository as soon as the app is installed there, until it is removed", async () => {
    const bot = githubBot();
    const root = bot.open();
    const repositories = [{ full_name: "shop/web" }, { full_name: "shop/app" }];
    await root.receive(hook("installation", { action: "created", installation: { id: 33 }, repositories }));
    expect(await bot.open().post(issue("web"), "Hi")).toBe("5");
    await root.receive(
      hook("installation_repositories", {
        action: "removed",
        installation: { id: 33 },
        repositories_added: [],
        repositories_removed: [{ full_name: "shop/web" }],
      }),
    );
    expect(await bot.open().post(issue("web"), "Hi")).toEqual({ kind: "gone", code: "not-installed" });
    expect(await bot.open().post(issue("app"), "Hi")).toBe("5");
    await root.receive(hook("installation", { action: "deleted", installation: { id: 33 }, repositories }));
    expect(await bot.open().post(issue("app"), "Hi")).toEqual({ kind: "gone", code: "not-installed" });
    expect(posts()).toEqual(["ghs_33", "ghs_33"]);
  });
});

describe("Linear in several workspaces", () => {
  const linearBot = () =>
    createBot(
      () => createLinearAdapter({ clientId: "id", clientSecret: "client-secret", webhookSecret: secret }),
      {
        install: {},
      },
    );
  let tokens: { readonly grant: string | null; readonly refresh: string | null }[];
  let made: string[];
  let refuse: boolean;

  beforeEach(() => {
    tokens = [];
    made = [];
    refuse = false;
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const address = input instanceof Request ? input.url : String(input);
      if (address === "https://api.linear.app/oauth/token") {
        const form = new URLSearchParams(String(init?.body));
        tokens.push({ grant: form.get("grant_type"), refresh: form.get("refresh_token") });
        if (refuse) return Response.json({ error: "invalid_grant" }, { status: 400 });
        const of = form.get("code") ?? form.get("refresh_token")?.split("-")[1];
        return Response.json({
          access_token: `lin-${of}-${tokens.length}`,
          refresh_token: `refresh-${of}-${tokens.length}`,
          expires_in: 86_399,
        });
      }
      const authorization = new Headers(init?.headers).get("authorization") ?? "";
      const organization = authorization.split("-")[1];
      const { query } = JSON.parse(String(init?.body)) as { readonly query: string };
      if (query.includes("viewer")) {
        return Response.json({
          data: {
            viewer: { id: `bot-${organization}`, displayName: "bot", organization: { id: organization } },
          },
        });
      }
      made.push(authorization.replace("Bearer ", ""));
      return Response.json({
        data: { commentCreate: { success: true, lastSyncId: 1, comment: { id: "c9" } } },
      });
    });
  });

  const issueId = "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9";
  const hook = (payload: object): Request => {
    const body = JSON.stringify({ webhookTimestamp: Date.now(), webhookId: "w", ...payload });
    return new Request("https://bot.example/messengers/bot/webhook", {
      method: "POST",
      headers: { "linear-signature": createHmac("sha256", secret).update(body).digest("hex") },
      body,
    });
  };
  const comment = (organizationId: string, id: string) =>
    hook({
      type: "Comment",
      action: "create",
      organizationId,
      createdAt: "2026-11-20T10:00:00Z",
      url: "https://linear.app/x",
      data: {
        id,
        body: "@linear-bot hi",
        issueId: `${issueId.slice(0, -1)}${organizationId === "one" ? 1 : 2}`,
        createdAt: "2026-11-20T10:00:00Z",
        updatedAt: "2026-11-20T10:00:00Z",
        user: { id: "U1", name: "Ada", email: "ada@example.com", url: "https://linear.app/x/profiles/ada" },
      },
    });
  const issue = (last: number) => addressOf(`linear:${issueId.slice(0, -1)}${last}`);

  it("answers each workspace with its own token, and forgets it when the app is removed", async () => {
    const bot = linearBot();
    const root = bot.open();
    expect((await install(root, "one")).status).toBe(200);
    expect((await install(root, "two")).status).toBe(200);
    expect((await root.receive(comment("one", "c1"))).keys).toHaveLength(1);
    expect((await root.receive(comment("two", "c2"))).keys).toHaveLength(1);
    const other = bot.open();
    await other.post(issue(1), "Hi");
    await other.post(issue(2), "Hi");
    expect(made).toEqual(["lin-one-1", "lin-two-2"]);
    expect(bot.secretNames()).toHaveLength(2);
    await root.receive(hook({ type: "OAuthApp", action: "revoked", organizationId: "one" }));
    expect(bot.secretNames()).toEqual(["adapter:bot:linear:installation:two"]);
    expect(await bot.open().post(issue(1), "Hi")).toEqual({ kind: "gone", code: "not-installed" });
  });

  it("renews a token before its end, once for all objects", async () => {
    const bot = linearBot();
    const root = bot.open();
    await install(root, "one");
    await root.receive(comment("one", "c1"));
    bot.clock.now += 86_399_000 - 10 * 60_000;
    vi.setSystemTime(bot.clock.now);
    await Promise.all([bot.open(), bot.open(), bot.open()].map((object) => object.post(issue(1), "Hi")));
    expect(tokens.slice(1)).toEqual([{ grant: "refresh_token", refresh: "refresh-one-1" }]);
    expect(made).toEqual(["lin-one-2", "lin-one-2", "lin-one-2"]);
    await bot.open().post(issue(1), "Hi");
    expect(tokens).toHaveLength(2);
  });

  it("uses the token to its end if it cannot be renewed", async () => {
    const bot = linearBot();
    const root = bot.open();
    await install(root, "one");
    await root.receive(comment("one", "c1"));
    bot.clock.now += 86_399_000 - 10 * 60_000;
    vi.setSystemTime(bot.clock.now);
    refuse = true;
    await bot.open().post(issue(1), "Hi");
    expect(made).toEqual(["lin-one-1"]);
  });
});

describe("the option `install`", () => {
  it("is refused for an adapter that has nothing to install", () => {
    const adapter = createSlackAdapter({ botToken: "xoxb-1", signingSecret: secret });
    expect(() => chatSdkMessenger({ adapter, verifyWebhook: false, install: {} })).toThrow(/`install`/);
  });

  it("needs a key for the tokens, when the bot starts", () => {
    const adapter = createSlackAdapter({ signingSecret: secret, clientId: "1", clientSecret: "2" });
    const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
    expect(() => platform.checkEnvironment?.({})).toThrow(/slack.*SECRETS_KEY/);
    expect(() => platform.checkEnvironment?.({ SECRETS_KEY })).not.toThrow();
    const single = createSlackAdapter({ botToken: "xoxb-1", signingSecret: secret });
    expect(
      chatSdkMessenger({ adapter: single, verifyWebhook: false }).platform.checkEnvironment,
    ).toBeUndefined();
  });
});
