import { createHmac } from "node:crypto";
import { createLinearAdapter } from "@chat-adapter/linear";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { Address, OutgoingMessage } from "../../../../src/core/chat/surface.ts";
import { createRig } from "./rig.ts";
import type { Rig } from "./rig.ts";

/* The real adapter before a Linear that makes comments and activities, and answers no question about them. */

const secret = "s3cret";
const issueId = "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9";
const sessionId = "0b2f5c1e-8d0a-4a43-9c43-2d2f8a6f6a11";
const session = `linear:${issueId}:s:${sessionId}`;

interface Operation {
  readonly query: string;
  readonly variables: { readonly input?: Record<string, unknown> };
}
let mutations: { readonly name: string; readonly input: Record<string, unknown> | undefined }[];
let isDown: boolean;
/** Whether the answers to mutations are lost. */
let isLost: boolean;

beforeEach(() => {
  mutations = [];
  isDown = false;
  isLost = false;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_input, init) => {
    const { query, variables } = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Operation;
    if (query.includes("viewer")) {
      return Response.json({
        data: { viewer: { id: "bot", displayName: "bot", organization: { id: "o1" } } },
      });
    }
    const [, name] = /\b(commentCreate|agentActivityCreate)\b/.exec(query) ?? [];
    const { id } = variables as { readonly id?: string };
    const known = mutations.find(
      ({ input }) => input?.["id"] !== undefined && input["id"] === (id ?? variables.input?.["id"]),
    );
    const [, asked] = /\b(comment|agentActivity)\(/.exec(query) ?? [];
    if (asked !== undefined && id !== undefined) {
      return known === undefined
        ? refusal("Entity not found: Comment")
        : Response.json({
            data: { [asked]: { id, createdAt: "2026-11-20T10:00:00Z", content: {}, reactions: [] } },
          });
    }
    if (known !== undefined) return refusal("Argument Validation Error: conflict on insert");
    if (name === undefined || isDown)
      return Response.json({ errors: [{ message: "down" }] }, { status: 500 });
    mutations.push({ name, input: variables.input });
    if (isLost) throw new TypeError("fetch failed");
    const made = name === "commentCreate" ? { comment: { id: "c9" } } : { agentActivity: { id: "a9" } };
    return Response.json({ data: { [name]: { success: true, lastSyncId: 1, ...made } } });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function refusal(message: string): Response {
  const extensions = { type: "invalid input", code: "INPUT_ERROR", userError: true };
  return Response.json({ data: null, errors: [{ message, extensions }] }, { status: 400 });
}

const adapter = (mode: "agent-sessions" | "comments") =>
  createLinearAdapter({ accessToken: "lin", webhookSecret: secret, mode });

function hook(payload: object): Request {
  const body = JSON.stringify({ webhookTimestamp: Date.now(), webhookId: "w", ...payload });
  return new Request("https://bot.example/webhook", {
    method: "POST",
    headers: { "linear-signature": createHmac("sha256", secret).update(body).digest("hex") },
    body,
  });
}
const user = { id: "U1", name: "Ada", email: "a@example.com", url: "https://linear.app/x/profiles/ada" };
const sessionEvent = (action: string, more: object = {}) =>
  hook({
    type: "AgentSessionEvent",
    action,
    createdAt: "2026-11-20T10:00:00Z",
    organizationId: "o1",
    appUserId: "bot",
    promptContext: "<issue>…</issue>",
    agentSession: {
      id: sessionId,
      appUserId: "bot",
      issueId,
      creator: user,
      comment: { id: "c1", body: "@bot what is new?" },
    },
    ...more,
  });
const prompt = (id: string, body: string, signal?: string) =>
  sessionEvent("prompted", {
    agentActivity: {
      id,
      agentSessionId: sessionId,
      createdAt: "2026-11-20T10:01:00Z",
      content: { type: "prompt", body },
      user,
      ...(signal !== undefined && { signal }),
    },
  });

const post = (rig: Rig, threadId: string, message: Partial<OutgoingMessage>) => {
  const surface = rig.platform.surface(rig.context);
  const address: Address = {
    messengerId: "bot",
    chatId: `linear:${issueId}`,
    threadId,
    isDirectMessage: false,
  };
  const options = { signal: new AbortController().signal } as never;
  return surface.post(address, { text: "Hello", ...message } as OutgoingMessage, options).then(
    ({ messageId }) => messageId,
    (error: unknown) => surface.classifyError(error),
  );
};

describe("a session of an agent on Linear", () => {
  it("is a thread, begins with a mention, and gets a thought at once, only the first time", async () => {
    const rig = createRig(adapter("agent-sessions"));
    const first = await rig.receive(sessionEvent("created"));
    expect(first.response.status).toBe(200);
    const [incoming] = first.accepted;
    if (incoming === undefined) throw new Error("nothing was accepted");
    expect(incoming.thread).toMatchObject({ id: session, chatId: `linear:${issueId}`, topicId: session });
    expect(await rig.parse(incoming)).toMatchObject({
      kind: "mention",
      message: { text: "@bot what is new?" },
    });
    const thought = { type: "thought", body: expect.any(String) as string };
    expect(mutations).toEqual([
      {
        name: "agentActivityCreate",
        input: { agentSessionId: sessionId, content: thought, ephemeral: true },
      },
    ]);
    await rig.receive(sessionEvent("created"));
    await rig.receive(prompt("p1", "And now?"));
    expect(mutations).toHaveLength(1);
  });

  it("is answered if an automation has begun it", async () => {
    const rig = createRig(adapter("agent-sessions"));
    const agentSession = { id: sessionId, appUserId: "bot", issueId, creator: null, comment: null };
    const { accepted } = await rig.receive(sessionEvent("created", { agentSession }));
    const event = await rig.parse(accepted[0] as never);
    expect(event).toMatchObject({
      kind: "mention",
      message: { text: expect.stringContaining("<issue>") as string },
    });
    expect(event.author?.isBot).not.toBe(true);
  });

  it("takes the event even if the thought fails, but shows none for an event that is not stored", async () => {
    const rig = createRig(adapter("agent-sessions"));
    isDown = true;
    expect((await rig.receive(sessionEvent("created"))).response.status).toBe(200);
    isDown = false;
    const other = createRig(adapter("agent-sessions"));
    const refused = await other.receive(sessionEvent("created"), () => Promise.reject(new Error("full")));
    expect(refused.response.status).toBe(503);
    expect(mutations).toEqual([]);
  });

  it("goes on with a prompt, and ends its turn with a stop, once", async () => {
    const rig = createRig(adapter("agent-sessions"));
    const { accepted } = await rig.receive(prompt("p1", "And now?"));
    expect(await rig.parse(accepted[0] as never)).toMatchObject({
      kind: "mention",
      message: { text: "And now?" },
    });
    const stop = await rig.receive(prompt("p2", "Stop", "stop"));
    expect(stop.accepted[0]?.thread.id).toBe(session);
    expect(await rig.parse(stop.accepted[0] as never)).toMatchObject({
      message: { command: { name: "stop", isForThisBot: true } },
    });
    const again = await rig.receive(prompt("p2", "Stop", "stop"));
    expect(again.accepted[0]?.key).toBe(stop.accepted[0]?.key);
  });

  it("gets answers as responses and questions as elicitations, each by one call", async () => {
    const rig = createRig(adapter("agent-sessions"));
    expect(await post(rig, session, { text: "**Done**" })).toBe("a9");
    expect(await post(rig, session, { text: "Really?\n\n1. Yes", isCard: true })).toBe("a9");
    expect(mutations.map(({ input }) => input?.["content"])).toEqual([
      { type: "response", body: "**Done**" },
      { type: "elicitation", body: "Really?\n\n1. Yes" },
    ]);
  });

  it("has no edits, and shows for minutes that it works", () => {
    const { platform, context } = createRig(adapter("agent-sessions"));
    const surface = platform.surface(context);
    expect(surface.capabilities).toMatchObject({ edit: false, typing: true });
    expect(surface.typingLastsMs).toBeGreaterThan(60_000);
  });
});

describe.each([
  ["a response", "agent-sessions", session],
  ["a comment", "comments", `linear:${issueId}:c:c1`],
] as const)("%s on Linear whose answer is lost", (_kind, mode, threadId) => {
  const lost = { key: "k1", since: 0, until: 1, isText: () => false, isOther: () => false };
  const find = (rig: Rig, key: string) => {
    const { search } = rig.platform.surface(rig.context);
    const address: Address = {
      messengerId: "bot",
      chatId: `linear:${issueId}`,
      threadId,
      isDirectMessage: false,
    };
    return search?.find(address, { ...lost, key }, { signal: new AbortController().signal });
  };

  it("is found by its key, by any object", async () => {
    isLost = true;
    expect(await post(createRig(adapter(mode)), threadId, { key: "k1" })).toMatchObject({ kind: "unknown" });
    const other = createRig(adapter(mode));
    const id = mutations[0]?.input?.["id"];
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(await find(other, "k1")).toEqual([{ messageId: id }]);
    expect(await find(other, "k2")).toEqual([]);
  });

  it("is made once, even if it is posted again", async () => {
    const rig = createRig(adapter(mode));
    isLost = true;
    await post(rig, threadId, { key: "k1" });
    isLost = false;
    expect(await post(rig, threadId, { key: "k1" })).toBe(mutations[0]?.input?.["id"]);
    expect(mutations).toHaveLength(1);
  });
});

describe("a comment on Linear", () => {
  it("is posted by one call, and never asked for", async () => {
    const rig = createRig(adapter("comments"));
    expect(await post(rig, `linear:${issueId}:c:c1`, {})).toBe("c9");
    expect(mutations).toEqual([{ name: "commentCreate", input: { issueId, body: "Hello", parentId: "c1" } }]);
  });

  it("has no typing", () => {
    const { platform, context } = createRig(adapter("comments"));
    expect(platform.surface(context).capabilities).toMatchObject({ edit: true, typing: false });
  });

  it("is an ordinary message, whatever it says", async () => {
    const rig = createRig(adapter("comments"));
    const { accepted } = await rig.receive(
      hook({
        type: "Comment",
        action: "create",
        organizationId: "o1",
        data: {
          id: "c1",
          body: "stop",
          issueId,
          createdAt: "2026-11-20T10:00:00Z",
          updatedAt: "2026-11-20T10:00:00Z",
          user,
        },
      }),
    );
    expect(await rig.parse(accepted[0] as never)).toMatchObject({
      kind: "message",
      message: { text: "stop" },
    });
    expect(mutations).toEqual([]);
    expect(chatSdkMessenger({ adapter: adapter("comments"), verifyWebhook: false }).platform.provider).toBe(
      "linear",
    );
  });
});
