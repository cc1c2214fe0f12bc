import { createLinearAdapter } from "@chat-adapter/linear";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import { createWorld, type World } from "../support/world.ts";

/* A bot that two workspaces of Linear have installed. The root takes the webhooks, other objects answer. */

const webhookSecret = "s3cret";
const SOON = { timeout: 10_000 };
const issueId = (organization: string) =>
  `2174add1-f7c8-44e3-bbf3-2d60b5ea8bc${organization === "one" ? 1 : 2}`;

interface Activity {
  readonly token: string;
  readonly type: string;
  readonly body: string;
}
let activities: Activity[];

beforeEach(() => {
  activities = [];
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { body = null } = init ?? {};
    const text = body instanceof URLSearchParams ? body.toString() : typeof body === "string" ? body : "";
    if ((input instanceof Request ? input.url : String(input)).endsWith("/oauth/token")) {
      const code = new URLSearchParams(text).get("code");
      return Response.json({ access_token: `lin-${code}`, refresh_token: "refresh", expires_in: 86_399 });
    }
    const token = (new Headers(init?.headers).get("authorization") ?? "").replace("Bearer ", "");
    const { query, variables } = JSON.parse(text) as {
      readonly query: string;
      readonly variables?: { readonly input?: { readonly content?: Omit<Activity, "token"> } };
    };
    if (query.includes("viewer")) {
      const organization = { id: token.slice("lin-".length) };
      return Response.json({ data: { viewer: { id: "bot", displayName: "bot", organization } } });
    }
    const content = variables?.input?.content;
    if (content !== undefined) activities.push({ token, type: content.type, body: content.body });
    const made = { success: true, lastSyncId: 1, agentActivity: { id: `a${activities.length}` } };
    return Response.json({ data: { agentActivityCreate: made } });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function install(world: World, code: string): Promise<number> {
  const begun = await world.fetch("/messengers/linear/install", { redirect: "manual" });
  const page = new URL(begun.headers.get("location") ?? "");
  const cookie = begun.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const state = encodeURIComponent(page.searchParams.get("state") ?? "");
  const back = `/messengers/linear/install/callback?code=${code}&state=${state}`;
  return (await world.fetch(back, { headers: { cookie } })).status;
}

async function mention(world: World, organizationId: string, text: string): Promise<void> {
  const body = JSON.stringify({
    type: "AgentSessionEvent",
    action: "created",
    webhookTimestamp: Date.now(),
    createdAt: new Date().toISOString(),
    organizationId,
    agentSession: {
      id: `session-${organizationId}`,
      appUserId: "bot",
      issueId: issueId(organizationId),
      creator: { id: "U1", name: "Ada", email: "a@example.com", url: "https://linear.app/x/profiles/ada" },
      comment: { id: `comment-${organizationId}`, body: text },
    },
  });
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(webhookSecret), algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(body)));
  const hex = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = { "content-type": "application/json", "linear-signature": hex };
  const response = await world.fetch("/messengers/linear/webhook", { method: "POST", headers, body });
  expect(response.status).toBe(200);
}

const of = (token: string) => activities.filter((one) => one.token === token);

it("answers sessions of two workspaces with their own tokens, also unasked, and stores ciphertext only", async () => {
  const world = createWorld({
    messengers: () => ({
      linear: chatSdkMessenger({
        adapter: createLinearAdapter({
          clientId: "id",
          clientSecret: "client-secret",
          webhookSecret,
          mode: "agent-sessions",
        }),
        verifyWebhook: false,
        install: {},
        burstMs: 0,
        channelSpeakerLabel: false,
      }),
    }),
  });
  expect(await install(world, "one")).toBe(200);
  expect(await install(world, "two")).toBe(200);
  await mention(world, "one", "hello");
  await mention(world, "two", "goodbye");
  const answer = (token: string) => () => of(token).findLast(({ type }) => type === "response")?.body;
  await expect.poll(answer("lin-one"), SOON).toBe("You said: hello");
  await expect.poll(answer("lin-two"), SOON).toBe("You said: goodbye");
  for (const token of ["lin-one", "lin-two"]) {
    expect(of(token)[0]?.type).toBe("thought");
    expect(of(token).filter(({ type }) => type === "response")).toHaveLength(1);
  }

  const topicId = `linear:${issueId("two")}:s:session-two`;
  await world.stub.say("News!", { messenger: "linear", chatId: `linear:${issueId("two")}`, topicId });
  await expect.poll(answer("lin-two"), SOON).toBe("News!");

  const stored = await runInDurableObject(world.stub, (_bot, { storage }) =>
    ["secret_v1", "adapter_state_v1"].flatMap((table) =>
      storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
    ),
  );
  expect(stored.length).toBeGreaterThan(2);
  const dump = stored
    .flatMap((row) => Object.values(row))
    .map((cell) => (cell instanceof ArrayBuffer ? new TextDecoder().decode(cell) : String(cell)))
    .join();
  expect(dump).not.toContain("lin-one");
  expect(dump).not.toContain("refresh");
});
