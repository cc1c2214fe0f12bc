import { generateKeyPairSync } from "node:crypto";
import { createGitHubAdapter } from "@chat-adapter/github";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import { createWorld } from "../support/world.ts";

/* A bot that is a GitHub App, with a key of each form in which people have one. */

/** GitHub makes keys in the form `pkcs1`. */
const { privateKey: made } = generateKeyPairSync("rsa", { modulusLength: 2048 });

const SOON = { timeout: 10_000 };

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(["pkcs1", "pkcs8"] as const)("a GitHub App with a key in the form %s", (form) => {
  it.each([
    ["as it is", (key: string) => key, {}],
    ["in one line", (key: string) => key.replaceAll("\n", "\\n"), {}],
    ["of one installation", (key: string) => key, { installationId: 11 }],
  ])("answers, the key %s", async (_how, write, options) => {
    const posts: string[] = [];
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const authorization = new Headers(init?.headers).get("authorization") ?? "";
      if (pathname === "/app/installations/11/access_tokens")
        return /^bearer (?:[\w-]+\.){2}[\w-]+$/i.test(authorization)
          ? Response.json({ token: "ghs_11", expires_at: "2099-01-01T00:00:00Z" }, { status: 201 })
          : Response.json({ message: "Bad credentials" }, { status: 401 });
      if (init?.method === "POST") posts.push(authorization);
      return Response.json({ id: 5, user: { id: 9, login: "shop[bot]", type: "Bot" } }, { status: 201 });
    });
    const privateKey = write(made.export({ type: form, format: "pem" }).toString());
    const world = createWorld({
      messengers: () => ({
        github: chatSdkMessenger({
          adapter: createGitHubAdapter({
            appId: "1",
            privateKey,
            userName: "shop",
            botUserId: 9,
            webhookVerifier: () => true,
            ...options,
          }),
          verifyWebhook: false,
          burstMs: 0,
        }),
      }),
    });
    const at = new Date().toISOString();
    const user = { id: 1, login: "ada", type: "User" };
    const response = await world.fetch("/messengers/github/webhook", {
      method: "POST",
      headers: { "content-type": "application/json", "x-github-event": "issue_comment" },
      body: JSON.stringify({
        action: "created",
        installation: { id: 11 },
        issue: { number: 1 },
        comment: { id: 3, body: "@shop hello", created_at: at, updated_at: at, user },
        repository: { name: "web", owner: { login: "shop" } },
        sender: user,
      }),
    });
    expect(response.status).toBe(200);
    await vi.waitFor(() => expect(posts).toEqual(["token ghs_11"]), SOON);
  });
});
