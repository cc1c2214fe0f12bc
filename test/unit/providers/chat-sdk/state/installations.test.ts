import { createHmac, generateKeyPairSync } from "node:crypto";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../../providers/chat-sdk/index.ts";
import {
  addressOf,
  createBot,
  install,
  NOW,
  secret,
  SECRETS_KEY,
  useStub,
} from "../several-installations.ts";

/* The real adapters with one app in several workspaces, each object of the bot with an adapter of its own. */

const stub = useStub();

describe("a GitHub App with several installations", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const githubBot = () =>
    createBot(() =>
      createGitHubAdapter({
        apiUrl: stub.url,
        appId: "1",
        privateKey: pem,
        webhookSecret: secret,
        userName: "bot",
        botUserId: 99,
      }),
    );

  beforeEach(() => {
    stub.answer = ({ path }) => {
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
    stub.calls.filter(({ path }) => path.endsWith("/comments")).map(({ authorization }) => authorization);
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

  it("counts the limits of each installation apart", async () => {
    const bot = githubBot();
    const root = bot.open();
    await root.receive(comment("web", 11));
    await root.receive(comment("app", 22));
    const { context, platform } = bot.open();
    const { accountOf } = platform.surface(context);
    expect(await accountOf?.(issue("web"))).toBe("11");
    expect(await accountOf?.(issue("app"))).toBe("22");
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

  it("keeps its chats while GitHub refuses the App's own key", async () => {
    const bot = githubBot();
    await bot.open().receive(comment("web", 11));
    stub.answer = () => ({ status: 401, body: { message: "A JSON web token could not be decoded" } });
    const refused = { kind: "misconfigured", code: "app-refused" };
    expect(await bot.open().post(issue("web"), "Hi")).toEqual(refused);
    expect(posts()).toEqual([]);
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
  let refuse: string | undefined;

  beforeEach(() => {
    tokens = [];
    made = [];
    refuse = undefined;
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const address = input instanceof Request ? input.url : String(input);
      if (address === "https://api.linear.app/oauth/token") {
        const form = new URLSearchParams(textOf(init?.body));
        tokens.push({ grant: form.get("grant_type"), refresh: form.get("refresh_token") });
        if (refuse !== undefined) return Response.json({ error: refuse }, { status: 400 });
        const of = form.get("code") ?? form.get("refresh_token")?.split("-")[1];
        return Response.json({
          access_token: `lin-${of}-${tokens.length}`,
          refresh_token: `refresh-${of}-${tokens.length}`,
          expires_in: 86_399,
        });
      }
      const authorization = new Headers(init?.headers).get("authorization") ?? "";
      const organization = authorization.split("-")[1];
      const { query } = JSON.parse(textOf(init?.body)) as { readonly query: string };
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
    const { accountOf } = other.platform.surface(other.context);
    expect(await accountOf?.(issue(1)), "the limits of each are apart").toBe("one");
    expect(await accountOf?.(issue(2))).toBe("two");
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
    refuse = "invalid_grant";
    await bot.open().post(issue(1), "Hi");
    expect(made).toEqual(["lin-one-1"]);
  });

  it.each([
    ["the token that renews", "invalid_grant", { kind: "gone", code: "not-installed" }],
    ["the app itself", "invalid_client", { kind: "misconfigured", code: "app-refused" }],
  ])("tells from each other what is refused: %s", async (_what, error, failure) => {
    const bot = linearBot();
    const root = bot.open();
    await install(root, "one");
    await root.receive(comment("one", "c1"));
    bot.clock.now += 86_399_000;
    vi.setSystemTime(bot.clock.now);
    refuse = error;
    expect(await bot.open().post(issue(1), "Hi")).toEqual(failure);
  });
});

describe("Teams", () => {
  const jwt = `${base64({ alg: "none" })}.${base64({ aud: "app", exp: 4_000_000_000, iat: 1 })}.signature`;
  const teamsBot = () => {
    const adapters: ReturnType<typeof createTeamsAdapter>[] = [];
    const bot = createBot(() => {
      const adapter = createTeamsAdapter({ appId: "app", token: () => jwt, webhookVerifier: () => true });
      adapters.push(adapter);
      return adapter;
    });
    return { ...bot, adapters };
  };

  it("reaches a person where they wrote last, from an object that never saw them", async () => {
    stub.answer = () => ({ status: 201, body: { id: "a:new" } });
    const bot = teamsBot();
    const activity = {
      type: "message",
      id: "1",
      text: "hi",
      channelId: "msteams",
      serviceUrl: `${stub.url}/emea/`,
      from: { id: "29:ada", name: "Ada", aadObjectId: "aad-ada" },
      recipient: { id: "28:app", name: "bot" },
      conversation: { id: "a:1", conversationType: "personal", tenantId: "tenant-1" },
      channelData: { tenant: { id: "tenant-1" } },
    };
    const body = JSON.stringify(activity);
    const headers = { "content-type": "application/json", authorization: "Bearer x" };
    const request = new Request("https://bot.example/messengers/bot/webhook", {
      method: "POST",
      headers,
      body,
    });
    expect((await bot.open().receive(request)).status).toBe(200);
    const later = bot.open();
    const adapter = bot.adapters[1];
    const threadId =
      adapter?.encodeThreadId({ conversationId: "a:1", serviceUrl: `${stub.url}/emea/` }) ?? "";
    stub.calls = [];
    expect(await later.post(addressOf(threadId), "Good morning")).toBe("a:new");
    await adapter?.openDM("29:ada");
    expect(stub.calls.map(({ path }) => path)).toEqual([
      "/emea/v3/conversations/a:1/activities",
      "/emea/v3/conversations",
    ]);
    expect(JSON.parse(stub.calls[1]?.body ?? "{}")).toMatchObject({ tenantId: "tenant-1" });
  });
});

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

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

function textOf(body: unknown): string {
  if (body instanceof URLSearchParams) return body.toString();
  return typeof body === "string" ? body : "";
}
