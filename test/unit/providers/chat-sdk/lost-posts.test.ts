import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type {
  Address,
  LostPost,
  OutgoingMessage,
  PostSearch,
  Surface,
} from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformAnswer, type PlatformStub, realAdapters, startPlatformStub } from "./platform-stub.ts";

/** Time of the lost posts, in epoch milliseconds. */
const SINCE = 1_800_000_000_000;
const KEY = "k3y0000000000000000000aa";
const TEXT = "You said: **hello**";

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

type Name = "slack" | "discord" | "github" | "gchat";

interface Rig {
  readonly surface: Surface;
  readonly search: PostSearch;
  readonly address: Address;
}

function rigOf(name: Name, threadId?: string): Rig {
  const real = realAdapters[name](stub.url);
  const { platform } = chatSdkMessenger({ adapter: real.adapter, verifyWebhook: false });
  const surface = platform.surface(createPlatformContext({}).context);
  const { search } = surface;
  if (search === undefined) throw new Error(`Nothing is found on ${name}.`);
  const address = {
    messengerId: "bot",
    chatId: real.chatId,
    threadId: threadId ?? real.threadId,
    isDirectMessage: false,
  };
  return { surface, search, address };
}

const options = () => ({ signal: new AbortController().signal });

function lost(more: Partial<LostPost> = {}): LostPost {
  return {
    key: KEY,
    since: SINCE,
    until: SINCE + 17_000,
    isText: (text) => text.replaceAll("*", "") === "You said: hello",
    isOther: () => false,
    ...more,
  };
}

/** Posts a message, and returns the last request and its body. */
async function posted(name: Name, message: Partial<OutgoingMessage> = {}, threadId?: string) {
  const { address, surface } = rigOf(name, threadId);
  const bodies: string[] = [];
  stub.answer((body) => {
    bodies.push(body);
    return { status: 200, body: answers[name] };
  });
  await surface.post(address, { text: TEXT, entities: [], key: KEY, ...message }, options());
  return { request: stub.requests.at(-1) ?? "", body: bodies.at(-1) ?? "" };
}

const answers: Readonly<Record<Name, object>> = {
  slack: { ok: true, ts: "1800000001.000100", user_id: "U1", bot_id: "B1", user: "bot" },
  discord: { id: "9", channel_id: "2", author: { id: "1" }, content: TEXT },
  github: { id: 7, body: TEXT, user: { id: 5, login: "bot", type: "Bot" } },
  gchat: { name: "spaces/A/messages/S" },
};

/** Searches while the platform answers so. Returns what is found, or the class of the failure. */
async function found(
  name: Name,
  answer: PlatformAnswer | ((request: string, body: string) => PlatformAnswer),
  { post = lost(), threadId }: { readonly post?: LostPost; readonly threadId?: string } = {},
): Promise<unknown> {
  const { address, search, surface } = rigOf(name, threadId);
  // The adapter starts before the call, and asks for its own name.
  stub.answer({ status: 200, body: { ...answers[name], ...(name === "github" && { id: 5 }) } });
  await surface.typing(address, options()).catch(() => undefined);
  stub.answer((body) => (typeof answer === "function" ? answer(stub.requests.at(-1) ?? "", body) : answer));
  return search.find(address, post, options()).catch((error: unknown) => surface.classifyError(error));
}

const shows = (body: unknown): PlatformAnswer => ({ status: 200, body });

describe("Discord", () => {
  const snowflake = (time: number, index = 0): string =>
    String((BigInt(time - 1_420_070_400_000) << 22n) + BigInt(index));
  const own = (more: object = {}, at = SINCE + 500) => ({
    id: snowflake(at),
    author: { id: "1" },
    content: "You said: hello",
    ...more,
  });
  const before = { id: snowflake(SINCE - 100_000), author: { id: "44" }, content: "hello" };

  it("gives each post a nonce that is enforced", async () => {
    const { body } = await posted("discord");
    expect(JSON.parse(body)).toMatchObject({ nonce: KEY, enforce_nonce: true });
    expect(KEY.length).toBeLessThanOrEqual(25);
  });

  it("gives posts with files a nonce as well", async () => {
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", (_url: unknown, { body }: RequestInit) => {
      sent.push(body);
      return Promise.resolve(Response.json(answers.discord));
    });
    const { address, surface } = rigOf("discord");
    const file = {
      kind: "document",
      name: "a.txt",
      mediaType: "text/plain",
      source: { kind: "bytes", hash: "h", sizeBytes: 1 },
    } as const;
    const openFile = () => new Blob(["a"]).stream();
    await surface.post(
      address,
      { text: "", entities: [], key: KEY, files: [file] },
      { ...options(), openFile },
    );
    vi.unstubAllGlobals();
    const form = sent.at(-1);
    const payload = form instanceof FormData ? form.get("payload_json") : undefined;
    expect(JSON.parse(typeof payload === "string" ? payload : "null")).toMatchObject({
      nonce: KEY,
      enforce_nonce: true,
    });
  });

  it("sends no nonce with an edit", async () => {
    const { address, surface } = rigOf("discord");
    const bodies: string[] = [];
    stub.answer((body) => {
      bodies.push(body);
      return shows(answers.discord);
    });
    await surface.edit(address, "9", { text: TEXT, entities: [] }, options());
    expect(bodies.join("")).not.toContain("nonce");
  });

  it("repeats a post for two minutes, because Discord remembers its nonce", () => {
    expect(rigOf("discord").search.repeatableForMs).toBe(120_000);
  });

  it("finds its own message by the text", async () => {
    expect(await found("discord", shows([own(), before]))).toEqual([{ messageId: own().id }]);
    expect(stub.requests).toEqual(["GET /channels/2/messages?limit=100"]);
  });

  it.each([
    ["a message of somebody else", [own({ author: { id: "44" } }), before]],
    ["another text", [own({ content: "You" }), before]],
    ["an earlier message", [own({}, SINCE - 90_000), before]],
    ["a later message", [own({}, SINCE + 90_000), before]],
    ["nothing", [before]],
  ])("is certain that the post was not made: %s", async (_name, body) => {
    expect(await found("discord", shows(body))).toEqual([]);
  });

  it("does not take a message that is known to be another one", async () => {
    const post = lost({ isOther: (id) => id === own().id });
    expect(await found("discord", shows([own(), before]), { post })).toEqual([]);
  });

  it.each([
    ["an empty list, as one without the right to read gets it", []],
    ["a message whose text cannot be compared", [own({ content: "" }), before]],
    ["more messages than one list has", Array.from({ length: 100 }, () => own({ author: { id: "44" } }))],
  ])("cannot tell: %s", async (_name, body) => {
    expect(await found("discord", shows(body))).toBe("undecided");
  });
});

describe("Slack", () => {
  const own = (more: object = {}) => ({
    ts: "1800000000.500000",
    user: "U1",
    text: "You",
    metadata: { event_type: "switchboard_post", event_payload: { key: KEY } },
    ...more,
  });
  const page = (messages: readonly object[], more: object = {}) => shows({ ok: true, messages, ...more });

  it.each([{}, { isCard: true, buttons: [[{ kind: "callback", label: "Yes", token: "c1.a.b" }]] } as const])(
    "gives each post metadata: %j",
    async (message) => {
      const { body, request } = await posted("slack", message);
      expect(request).toBe("POST /chat.postMessage");
      const metadata: unknown = JSON.parse(new URLSearchParams(body).get("metadata") ?? "null");
      expect(metadata).toEqual({ event_type: "switchboard_post", event_payload: { key: KEY } });
    },
  );

  it("finds a message of a thread by its key", async () => {
    let asked = new URLSearchParams();
    const answer = (_request: string, body: string) => {
      asked = new URLSearchParams(body);
      return page([own()]);
    };
    expect(await found("slack", answer)).toEqual([{ messageId: "1800000000.500000" }]);
    expect(stub.requests).toEqual(["POST /conversations.replies"]);
    expect(Object.fromEntries(asked)).toMatchObject({
      channel: "C1",
      ts: "1.1",
      include_all_metadata: "true",
      oldest: "1799999940.000000",
      latest: "1800000077.000000",
    });
  });

  it("finds both messages of a post that was made twice, the earlier first", async () => {
    const later = own({ ts: "1800000003.000000" });
    expect(await found("slack", page([later, own()]))).toEqual([
      { messageId: "1800000000.500000" },
      { messageId: "1800000003.000000" },
    ]);
  });

  it("reads the history of a channel", async () => {
    expect(await found("slack", page([own()]), { threadId: "slack:C1:" })).toHaveLength(1);
    expect(stub.requests).toEqual(["POST /conversations.history"]);
  });

  it("finds a message with files by its text, because it has no metadata", async () => {
    const shared = own({ files: [{ id: "F1" }], metadata: undefined, text: "You said: hello" });
    expect(await found("slack", page([shared]))).toHaveLength(1);
    expect(await found("slack", page([{ ...shared, user: "U2" }]))).toEqual([]);
    // Also of another bot, whose file may have no words either.
    const bare = { post: lost({ isText: (text) => text === "" }) };
    const picture = { ...shared, text: "", bot_id: "B1" };
    expect(await found("slack", page([{ ...picture, user: "U2", bot_id: "B2" }]), bare)).toEqual([]);
    expect(await found("slack", page([picture]), bare)).toHaveLength(1);
  });

  it.each([
    ["no message", []],
    ["another key", [own({ metadata: { event_type: "switchboard_post", event_payload: { key: "other" } } })]],
    ["another app's metadata", [own({ metadata: { event_type: "deploy", event_payload: {} } })]],
    ["the same words of a person", [own({ metadata: undefined, text: "You said: hello" })]],
  ])("is certain that the post was not made: %s", async (_name, messages) => {
    expect(await found("slack", page(messages))).toEqual([]);
  });

  it("cannot tell if there are more messages", async () => {
    expect(await found("slack", page([own({ metadata: undefined })], { has_more: true }))).toBe("undecided");
  });

  it.each(["missing_scope", "not_in_channel", "no_permission"])(
    "gives up where the app may not read: %s",
    async (error) => {
      const failure = await found("slack", shows({ ok: false, error }));
      expect(failure).toEqual({ kind: "rejected", code: "bad-request" });
    },
  );

  it("asks again later after a rate limit", async () => {
    const limited = {
      status: 429,
      headers: { "retry-after": "30" },
      body: { ok: false, error: "ratelimited" },
    };
    expect(await found("slack", limited)).toEqual({
      kind: "retry-after",
      code: "too-many-requests",
      retryAfterMs: 30_000,
    });
  });
});

describe("GitHub", () => {
  const own = (more: object = {}) => ({ id: 7, body: TEXT, user: { id: 5 }, ...more });

  it("finds its comment on an issue by the text", async () => {
    expect(await found("github", shows([own()]))).toEqual([{ messageId: "7" }]);
    expect(stub.requests).toEqual([
      "GET /repos/shop/web/issues/1/comments?since=2027-01-15T07%3A59%3A00.000Z&per_page=100",
    ]);
  });

  it("finds its reply to a comment of a review", async () => {
    const threadId = "github:shop/web:2:rc:40";
    const body = [own({ id: 8, in_reply_to_id: 41 }), own({ in_reply_to_id: 40 })];
    expect(await found("github", shows(body), { threadId })).toEqual([{ messageId: "7" }]);
    expect(stub.requests[0]).toMatch(/^GET \/repos\/shop\/web\/pulls\/2\/comments\?since=/);
  });

  it.each([
    ["no comment", []],
    ["another text", [own({ body: "hello" })]],
    ["the same text of somebody else", [own({ user: { id: 6 } })]],
  ])("is certain that the comment was not made: %s", async (_name, body) => {
    expect(await found("github", shows(body))).toEqual([]);
  });

  it("cannot tell if there are more comments", async () => {
    const body = Array.from({ length: 100 }, (_, id) => own({ id, user: { id: 6 } }));
    expect(await found("github", shows(body))).toBe("undecided");
  });
});

describe("Google Chat", () => {
  it.each([{}, { isCard: true, buttons: [[{ kind: "callback", label: "Yes", token: "c1.a.b" }]] } as const])(
    "gives each message an id of its own: %j",
    async (message) => {
      const { request } = await posted("gchat", message);
      expect(new URL(request.replace("POST ", ""), stub.url).searchParams.get("messageId")).toBe(
        `client-${KEY}`,
      );
      expect(`client-${KEY}`).toMatch(/^client-[a-z0-9-]{1,56}$/);
    },
  );

  it("reads the message by its id", async () => {
    expect(await found("gchat", shows({ name: "spaces/A/messages/S" }))).toEqual([
      { messageId: "spaces/A/messages/S" },
    ]);
    expect(stub.requests).toEqual([`GET /v1/spaces/A/messages/client-${KEY}?key=key`]);
  });

  it("is certain that a message was not made whose id is unknown", async () => {
    expect(
      await found("gchat", { status: 404, body: { error: { code: 404, status: "NOT_FOUND" } } }),
    ).toEqual([]);
  });

  it("takes the refusal of a second message with the same id for a lost answer", async () => {
    const { address, surface } = rigOf("gchat");
    stub.answer({ status: 409, body: { error: { code: 409, status: "ALREADY_EXISTS" } } });
    const message = { text: TEXT, entities: [], key: KEY };
    const error: unknown = await surface.post(address, message, options()).catch((thrown: unknown) => thrown);
    expect(surface.classifyError(error)).toEqual({ kind: "unknown", code: "made-before" });
  });
});

it("finds nothing on Teams", () => {
  const { adapter } = realAdapters.teams(stub.url);
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
  expect(platform.surface(createPlatformContext({}).context).search).toBeUndefined();
});
