import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { CallFailure, Press, Surface } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, type RealAdapterName, realAdapters, startPlatformStub } from "./platform-stub.ts";
import { createMockRig } from "./rig.ts";

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
beforeEach(() => {
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation(() => undefined);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await stub.close();
});

const PRESS: Press = { id: "p1", messageId: "1.2", userId: "U9", token: "t0ken" };

function surfaceOf(name: RealAdapterName): Surface {
  const { adapter } = realAdapters[name](stub.url);
  return chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(
    createPlatformContext({ fetch }).context,
  );
}

interface Told {
  readonly request: string | undefined;
  readonly body: unknown;
  readonly failure: CallFailure | undefined;
}

async function tell(
  name: RealAdapterName,
  press: Partial<Press> = {},
  answer = { status: 200, body: {} as object },
  text = "Not you.",
): Promise<Told> {
  const { chatId, threadId } = realAdapters[name](stub.url);
  const surface = surfaceOf(name);
  const address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
  stub.answer(answer);
  const error: unknown = await surface
    .answerAction(address, { ...PRESS, ...press }, { text }, { signal: new AbortController().signal })
    .catch((caught: unknown) => caught);
  const body = stub.bodies.at(-1) ?? "";
  return {
    request: stub.requests.at(-1),
    body: body.startsWith("{") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body)),
    failure: error === undefined ? undefined : surface.classifyError(error),
  };
}

describe("a private word", () => {
  it("is a message for one person on Slack, in the thread of the card", async () => {
    const { body, failure, request } = await tell("slack", {}, { status: 200, body: { ok: true } });
    expect(request).toBe("POST /chat.postEphemeral");
    expect(body).toMatchObject({ channel: "C1", thread_ts: "1.1", user: "U9", markdown_text: "Not you." });
    expect(failure).toBeUndefined();
  });

  it("is beside a card of Slack that begins a thread, which may have no messages", async () => {
    const { body } = await tell("slack", { messageId: "1.1" }, { status: 200, body: { ok: true } });
    expect(body).toMatchObject({ channel: "C1", user: "U9" });
    expect(body).not.toHaveProperty("thread_ts");
  });

  it("is a targeted message on Teams", async () => {
    const threadId = "19:abc@thread.tacv2";
    const { adapter } = realAdapters.teams(stub.url);
    const surface = surfaceOf("teams");
    const group = adapter.encodeThreadId({ conversationId: threadId, serviceUrl: `${stub.url}/` });
    stub.answer({ status: 200, body: { id: "1" } });
    await surface.answerAction(
      { messengerId: "bot", chatId: group, threadId: group, isDirectMessage: false },
      PRESS,
      { text: "Not you." },
      { signal: new AbortController().signal },
    );
    expect(stub.requests).toEqual([expect.stringMatching(/\/activities\?isTargetedActivity=true$/)]);
    expect(JSON.parse(stub.bodies[0] ?? "")).toMatchObject({ text: "Not you.", recipient: { id: "U9" } });
  });

  it("is a private message on Google Chat", async () => {
    const { body, request } = await tell("gchat", { userId: "users/9" });
    expect(request).toMatch(/^POST \/v1\/spaces\/A\/messages/);
    expect(body).toMatchObject({ text: "Not you.", privateMessageViewer: { name: "users/9" } });
  });

  it("answers the interaction on Discord", async () => {
    const { body, request } = await tell("discord");
    expect(request).toBe("POST /webhooks/1/t0ken");
    expect(body).toEqual({ content: "Not you.", flags: 64, allowed_mentions: { parse: [] } });
  });

  it.each([
    [404, 10_015],
    [401, 50_027],
  ])("comes too late on Discord after 15 minutes: %d %d", async (status, code) => {
    const { failure } = await tell("discord", {}, { status, body: { code, message: "expired" } });
    expect(failure).toEqual({ kind: "missing", code: "press-expired" });
  });

  it.each([
    ["slack", "markdown_text"],
    ["gchat", "text"],
    ["discord", "content"],
  ] as const)("shows a name that looks like a link or a mention as it is on %s", async (name, field) => {
    const text = "It's up to [Eve](https://evil.example) **Boss** @everyone <!channel> <users/all>.";
    const { body } = await tell(name, {}, { status: 200, body: { ok: true } }, text);
    const said = String((body as Record<string, unknown>)[field]);
    expect(said).not.toMatch(/<https|@everyone|<!channel|<users/);
    // Google Chat cannot escape them, and knows no such links.
    if (name !== "gchat") expect(said).not.toMatch(/(?<!\\)[[*]/);
  });

  it("waits on Discord as long as it is told", async () => {
    const { failure } = await tell("discord", {}, { status: 429, body: { retry_after: 2.5 } });
    expect(failure).toEqual({ kind: "retry-after", code: "too-many-requests", retryAfterMs: 2500 });
  });

  it.each([
    ["discord", "token"],
    ["slack", "userId"],
  ] as const)("is refused without what it needs: %s", async (name, what) => {
    const { [what]: _left, ...press } = PRESS;
    const { chatId, threadId } = realAdapters[name](stub.url);
    const surface = surfaceOf(name);
    const address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
    const error: unknown = await surface
      .answerAction(address, press, { text: "Not you." }, { signal: new AbortController().signal })
      .catch((caught: unknown) => caught);
    expect(surface.classifyError(error)).toEqual({ kind: "rejected", code: "not-supported" });
  });

  it.each([
    ["slack", "message"],
    ["teams", "message"],
    ["gchat", "message"],
    ["discord", "message"],
    ["whatsapp", "none"],
    ["github", "none"],
    ["linear", "none"],
  ] as const)("is known for each platform: %s", (name, expected) => {
    expect(surfaceOf(name).capabilities.privateWords).toBe(expected);
  });
});

describe("a press", () => {
  const user = { userId: "U1", userName: "ada", fullName: "Ada", isBot: false, isMe: false };
  const press = { actionId: "c1.key.button", messageId: "1.2", user };

  async function pressed(name: RealAdapterName, threadId: string, raw: unknown) {
    const { adapter } = realAdapters[name](stub.url);
    const rig = createMockRig(
      async (chat, own) => {
        await chat.processAction({ ...press, adapter: own, threadId, raw }, undefined);
        return new Response();
      },
      {
        channelIdFromThreadId: (id) => adapter.channelIdFromThreadId(id),
        isDM: (id) => adapter.isDM?.(id) ?? false,
      },
      name,
    );
    const { accepted } = await rig.receive();
    const [incoming] = accepted;
    if (incoming === undefined) throw new Error("Nothing was accepted.");
    return rig.parse(incoming);
  }

  it("in a private chat of Slack belongs to the chat, not to a thread below the card", async () => {
    const { thread } = await pressed("slack", "slack:D1:1.2", { message: { ts: "1.2" } });
    expect(thread).toMatchObject({ id: "slack:D1:", chatId: "slack:D1", isDirectMessage: true });
  });

  it("in a thread of a private chat of Slack belongs to the thread", async () => {
    const { thread } = await pressed("slack", "slack:D1:1.0", { message: { ts: "1.2", thread_ts: "1.0" } });
    expect(thread.id).toBe("slack:D1:1.0");
  });

  it("in a private chat of Google Chat belongs to the chat, not to a thread of a space", async () => {
    const raw = { chat: { buttonClickedPayload: { space: { name: "spaces/A", type: "DM" } } } };
    const { thread } = await pressed("gchat", "gchat:spaces/A:dGhyZWFk", raw);
    expect(thread).toMatchObject({
      id: "gchat:spaces/A:dm",
      chatId: "gchat:spaces/A",
      isDirectMessage: true,
    });
  });

  it("in a space of Google Chat belongs to its thread", async () => {
    const raw = { chat: { buttonClickedPayload: { space: { name: "spaces/A", spaceType: "SPACE" } } } };
    const { thread } = await pressed("gchat", "gchat:spaces/A:dGhyZWFk", raw);
    expect(thread).toMatchObject({ id: "gchat:spaces/A:dGhyZWFk", isDirectMessage: false });
  });

  it("on Discord keeps the permission to answer", async () => {
    const { action } = await pressed("discord", "discord:1:2", { id: "7", token: "t0ken" });
    expect(action).toMatchObject({ token: "t0ken", messageId: "1.2" });
  });
});
