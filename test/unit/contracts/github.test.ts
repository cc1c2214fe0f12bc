import { createSign, generateKeyPairSync } from "node:crypto";
import { createGitHubAdapter } from "@chat-adapter/github";
import { beforeEach, describe, expect, it } from "vitest";
import { GitHubEmulator } from "../../contracts/github/emulator.ts";
import { githubSignature } from "../../contracts/github/webhook.ts";
import type { Webhook } from "../../contracts/platform-emulator.ts";
import { createRig } from "../providers/chat-sdk/rig.ts";

const API = "https://api.example";
const ISSUES = "/repos/octo-org/hello-world/issues";
const ada = { id: "7001", name: "Ada 1" };

function optionsOf(emulator: GitHubEmulator): Parameters<typeof createGitHubAdapter>[0] & object {
  return JSON.parse(emulator.env(API)["PLATFORM_OPTIONS"] ?? "") as object;
}

/** Calls the API as the bot does. */
async function call(
  emulator: GitHubEmulator,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  const { token } = optionsOf(emulator) as { readonly token: string };
  return emulator.answer(
    new Request(`${API}${path}`, {
      method,
      headers: { authorization: `token ${token}`, "user-agent": "bot" },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
}

async function post(emulator: GitHubEmulator, body: string, issue = 1): Promise<Response> {
  return call(emulator, "POST", `${ISSUES}/${issue}/comments`, { body });
}

describe("the emulator of GitHub", () => {
  it("signs as the example of GitHub's documents", () => {
    expect(githubSignature("Hello, World!", "It's a Secret to Everybody")).toBe(
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    );
  });

  it("keeps what the bot posts, edits and deletes", async () => {
    const emulator = new GitHubEmulator();
    const place = emulator.shared("Spelling");
    const created = await post(emulator, "See **this**");
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { readonly id: number };
    expect(emulator.seen(place)).toMatchObject([
      {
        id: String(id),
        by: "bot",
        text: "See this",
        marks: [{ kind: "bold", text: "this" }],
        isEdited: false,
      },
    ]);
    expect((await call(emulator, "PATCH", `${ISSUES}/comments/${id}`, { body: "Done" })).status).toBe(200);
    expect(emulator.seen(place)).toMatchObject([{ text: "Done", isEdited: true }]);
    expect((await call(emulator, "DELETE", `${ISSUES}/comments/${id}`)).status).toBe(204);
    expect(emulator.seen(place)).toEqual([]);
    expect((await call(emulator, "PATCH", `${ISSUES}/comments/${id}`, { body: "Done" })).status).toBe(404);
  });

  it("refuses as GitHub does", async () => {
    const emulator = new GitHubEmulator();
    const [locked, deleted] = [emulator.shared("Locked"), emulator.shared("Deleted")];
    emulator.shut(locked);
    emulator.remove(deleted);
    emulator.shared("Open");
    const tooLong = await post(emulator, "x".repeat(65_537), 3);
    expect(await tooLong.json()).toMatchObject({
      message: "Validation Failed",
      errors: [
        { resource: "IssueComment", field: "data", message: expect.stringContaining("65536") as string },
      ],
    });
    expect((await post(emulator, "Hello")).status).toBe(403);
    expect((await post(emulator, "Hello", 2)).status).toBe(410);
    expect((await post(emulator, "x".repeat(65_536), 3)).status).toBe(201);
    expect((await post(emulator, " ", 3)).status).toBe(422);
    expect((await post(emulator, "Hello", 4)).status).toBe(404);
    const stranger = await emulator.answer(new Request(`${API}/user`, { headers: { "user-agent": "bot" } }));
    expect(stranger.status).toBe(401);
    expect(await stranger.json()).toMatchObject({ message: "Bad credentials" });
  });

  it("lets the bot create content 80 times a minute", async () => {
    let now = 0;
    const emulator = new GitHubEmulator({ now: () => now });
    emulator.shared("Busy");
    for (let count = 0; count < 80; count += 1) expect((await post(emulator, "Hello")).status).toBe(201);
    const refused = await post(emulator, "Hello");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([403, "60"]);
    now += 60_000;
    expect((await post(emulator, "Hello")).status).toBe(201);
  });

  it("lists comments from their last change on, page by page", async () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const emulator = new GitHubEmulator({ now: () => now });
    emulator.shared("Long");
    for (const body of ["one", "two", "three"]) {
      await post(emulator, body);
      now += 10_000;
    }
    const list = async (query: string): Promise<unknown[]> => {
      const response = await call(emulator, "GET", `${ISSUES}/1/comments?${query}`);
      return ((await response.json()) as { readonly body: string }[]).map(({ body }) => body);
    };
    expect(await list("since=2026-01-01T00:00:10Z")).toEqual(["two", "three"]);
    expect(await list("per_page=2")).toEqual(["one", "two"]);
    expect(await list("per_page=2&page=2")).toEqual(["three"]);
  });

  it("answers in the thread of a review, and only there", async () => {
    const emulator = new GitHubEmulator();
    const place = emulator.pullRequest("Fix");
    const { messageId } = emulator.review(ada, place, "Why?");
    const replies = `/repos/octo-org/hello-world/pulls/1/comments/${messageId}/replies`;
    const reply = await call(emulator, "POST", replies, { body: "Because" });
    expect(reply.status).toBe(201);
    expect(emulator.seen(place).at(-1)).toMatchObject({ text: "Because", threadOf: messageId });
    const { id } = (await reply.json()) as { readonly id: number };
    expect(
      (await call(emulator, "POST", replies.replace(String(messageId), String(id)), { body: "x" })).status,
    ).toBe(404);
  });

  it("sends webhooks that the adapter takes, also of the bot's own comments", async () => {
    const emulator = new GitHubEmulator();
    const echoes: Webhook[] = [];
    emulator.watchEchoes((webhook) => echoes.push(webhook));
    const place = emulator.pullRequest("Fix");
    const rig = createRig(createGitHubAdapter({ ...optionsOf(emulator), botUserId: 9_000_001 }));
    const write = await emulator.act({ kind: "write", by: ada, in: place, text: "Hello", isMention: true });
    const review = emulator.review(ada, place, "Why?");
    await post(emulator, "Mine");
    const heard: unknown[] = [];
    for (const webhook of [...(write?.webhooks ?? []), ...review.webhooks, ...echoes]) {
      const { accepted, response } = await rig.receive(webhook.request("https://bot.example/"));
      expect(response.status).toBe(200);
      for (const incoming of accepted) {
        const { kind, message } = await rig.parse(incoming);
        heard.push([kind, message?.id, message?.text]);
      }
    }
    expect(heard).toEqual([
      ["mention", write?.messageId, "@shop-bot Hello"],
      ["message", review.messageId, "Why?"],
    ]);
  });
});

describe("the emulator of a GitHub App", () => {
  const START = Date.UTC(2026, 10, 20);
  let now = START;
  let emulator: GitHubEmulator;
  beforeEach(() => {
    now = START;
    emulator = new GitHubEmulator({ isApp: true, now: () => now });
  });

  interface AppOptions {
    readonly appId: number;
    readonly privateKey: string;
  }
  const jwt = (claims: object = {}, alg = "RS256", key?: string): string => {
    const { appId, privateKey } = optionsOf(emulator) as unknown as AppOptions;
    const seconds = now / 1000;
    const parts = [
      { alg, typ: "JWT" },
      { iss: appId, iat: seconds - 60, exp: seconds + 540, ...claims },
    ];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = createSign("RSA-SHA256")
      .update(signed)
      .sign(key ?? privateKey);
    return `${signed}.${signature.toString("base64url")}`;
  };
  const ask = async (method: string, path: string, authorization: string, body?: object) => {
    const headers = { authorization, "user-agent": "bot" };
    const request = new Request(API + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const response = await emulator.answer(request);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const tokensOf = (id: number) => `/app/installations/${id}/access_tokens`;
  const reported = async (owner: string, action: "created" | "deleted") => {
    const [webhook] = emulator.install(owner, action).webhooks;
    const request = webhook?.request(API) ?? new Request(API);
    const payload = (await request.json()) as { action: string; installation: { id: number } };
    return { event: request.headers.get("x-github-event"), payload };
  };
  const idOf = async (owner: string) => (await reported(owner, "created")).payload.installation.id;
  const tokenOf = async (id: number): Promise<string> => {
    const { body, status } = await ask("POST", tokensOf(id), `Bearer ${jwt()}`);
    expect(status).toBe(201);
    return `token ${String(body["token"])}`;
  };

  it("gives an installation a token of an hour for its own repositories", async () => {
    emulator.shared("Spelling");
    emulator.shared("Spelling", "octo-labs");
    const token = await tokenOf(await idOf("octo-org"));
    expect((await ask("POST", `${ISSUES}/1/comments`, token, { body: "Hi" })).status).toBe(201);
    const foreign = ISSUES.replace("octo-org", "octo-labs");
    expect((await ask("POST", `${foreign}/1/comments`, token, { body: "Hi" })).status).toBe(404);
    expect((await ask("GET", "/user", token)).status).toBe(403);
    expect((await ask("GET", "/app", token)).status).toBe(401);
    now += 60 * 60_000 - 1;
    expect((await ask("GET", `${ISSUES}/1`, token)).status).toBe(200);
    now += 1;
    expect((await ask("GET", `${ISSUES}/1`, token)).status).toBe(401);
  });

  it("ends the tokens of an installation that is removed, and tells the App", async () => {
    emulator.shared("Spelling");
    const id = await idOf("octo-org");
    const token = await tokenOf(id);
    expect(await reported("octo-org", "deleted")).toMatchObject({
      event: "installation",
      payload: { action: "deleted", installation: { id } },
    });
    expect((await ask("GET", `${ISSUES}/1`, token)).status).toBe(401);
    expect((await ask("POST", tokensOf(id), `Bearer ${jwt()}`)).status).toBe(404);
    const written = { kind: "write", by: ada, in: emulator.shared("Spelling"), text: "Hello?" } as const;
    expect((await emulator.act(written))?.webhooks).toEqual([]);
  });

  it("refuses what the App has not signed, and signed for too long, too late or too early", async () => {
    const id = await idOf("octo-org");
    const refusal = async (authorization: string): Promise<unknown[]> => {
      const { body, status } = await ask("POST", tokensOf(id), authorization);
      return [status, body["message"]];
    };
    const seconds = now / 1000;
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const pem = other.export({ type: "pkcs8", format: "pem" }).toString();
    const unreadable = [401, "A JSON web token could not be decoded"];
    expect(await refusal("Bearer nonsense")).toEqual(unreadable);
    expect(await refusal(`Bearer ${jwt({}, "none")}`)).toEqual(unreadable);
    expect(await refusal(`Bearer ${jwt({}, "RS256", pem)}`)).toEqual(unreadable);
    expect(await refusal(`token ${jwt()}`)).toEqual(unreadable);
    const tooFar = [401, "'Expiration time' claim ('exp') is too far in the future"];
    expect(await refusal(`Bearer ${jwt({ exp: seconds + 601 })}`)).toEqual(tooFar);
    expect((await refusal(`Bearer ${jwt({ exp: seconds })}`))[0]).toBe(401);
    expect((await refusal(`Bearer ${jwt({ iat: seconds + 1 })}`))[0]).toBe(401);
    expect((await refusal(`Bearer ${jwt({ iss: 5 })}`))[0]).toBe(404);
    expect((await refusal(`Bearer ${jwt({ exp: seconds + 600 })}`))[0]).toBe(201);
  });
});
