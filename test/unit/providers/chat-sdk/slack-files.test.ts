import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { CallFailure, OutgoingMessage, PostedMessage } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, realAdapters, startPlatformStub } from "./platform-stub.ts";
import { workDone } from "./rig.ts";

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
beforeEach(() => {
  stub.answer({ status: 200, body: { ok: true, user_id: "U0", bot_id: "B0" } });
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

interface Request {
  readonly path: string;
  readonly authorization: string | null;
  readonly body: string;
}

type Answer = Readonly<Record<string, unknown>> | "cut" | Response;

const TICKET = { ok: true, upload_url: "https://files.slack.com/upload/v1/abc", file_id: "F1" };
const SHARED = { C1: [{ ts: "9.9" }] };
const NOT_SHARED_YET = { ok: true, files: [{ id: "F1", shares: {} }] };

/** Slack's answers by the last part of the path. */
const usual: Readonly<Record<string, Answer | readonly Answer[]>> = {
  "files.getUploadURLExternal": TICKET,
  abc: new Response("OK - 3"),
  "files.completeUploadExternal": { ok: true, files: [{ id: "F1", shares: { public: SHARED } }] },
  "files.info": { ok: true, file: { id: "F1", shares: { public: SHARED } } },
};

const MEDIA = {
  kind: "document",
  name: "invoice.pdf",
  mediaType: "application/pdf",
  source: { kind: "bytes", hash: "h1", sizeBytes: 3 },
} as const;
const MESSAGE: OutgoingMessage = { text: "Your **invoice**", entities: [], files: [MEDIA] };

interface Outcome {
  readonly posted: PostedMessage | undefined;
  readonly failure: CallFailure | undefined;
  readonly requests: readonly Request[];
  /** What the delivery heard of the upload. */
  readonly sent: readonly boolean[];
}

async function post(
  answers: Readonly<Record<string, Answer | readonly Answer[]>> = {},
  message: OutgoingMessage = MESSAGE,
): Promise<Outcome> {
  const requests: Request[] = [];
  const sent: boolean[] = [];
  const used: Record<string, number> = {};
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(new Request(input).url);
    const path = url.pathname.split("/").at(-1) ?? "";
    const { body } = init ?? {};
    requests.push({
      path,
      authorization: new Headers(init?.headers).get("authorization"),
      body: await new Response(body).text(),
    });
    const all = answers[path] ?? usual[path];
    const index = (used[path] = (used[path] ?? -1) + 1);
    const answer = Array.isArray(all) ? (all as readonly Answer[])[Math.min(index, all.length - 1)] : all;
    if (answer === "cut") throw new TypeError("fetch failed: xoxb-1");
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  };
  const { adapter, chatId, threadId } = realAdapters.slack(stub.url);
  const { context, fireTimers } = createPlatformContext({ fetch });
  const surface = chatSdkMessenger({ adapter, verifyWebhook: false }).platform.surface(context);
  const progress = { isOver: false };
  const posting = surface
    .post({ messengerId: "bot", chatId, threadId, isDirectMessage: false }, message, {
      signal: new AbortController().signal,
      openFile: () => new Blob(["pdf"]).stream(),
      onSent: (isWhole) => void sent.push(isWhole),
    })
    .then(
      (posted) => ({ posted, failure: undefined }),
      (error: unknown) => ({ posted: undefined, failure: surface.classifyError(error) }),
    )
    .finally(() => (progress.isOver = true));
  // The clock stands still, so its timers are fired by hand: those between questions about the message.
  while (!progress.isOver) {
    await workDone();
    if (requests.some(({ path }) => path === "files.completeUploadExternal")) fireTimers();
  }
  return { ...(await posting), requests, sent };
}

const pathsOf = ({ requests }: Outcome): string[] => requests.map(({ path }) => path);

describe("a file on Slack", () => {
  it("is uploaded in three steps, with its caption, into the thread", async () => {
    const { posted, requests } = await post();
    expect(posted).toEqual({ messageId: "9.9" });
    const [asked, uploaded, completed] = requests.map(({ authorization, body, path }) => ({
      path,
      authorization,
      body: path === "abc" ? body : Object.fromEntries(new URLSearchParams(body)),
    }));
    expect(asked).toEqual({
      path: "files.getUploadURLExternal",
      authorization: "Bearer xoxb-1",
      body: { filename: "invoice.pdf", length: "3" },
    });
    // The address is the permission. The token is only for Slack's API.
    expect(uploaded).toEqual({ path: "abc", authorization: null, body: "pdf" });
    expect(completed).toEqual({
      path: "files.completeUploadExternal",
      authorization: "Bearer xoxb-1",
      body: {
        files: JSON.stringify([{ id: "F1", title: "invoice.pdf" }]),
        channel_id: "C1",
        thread_ts: "1.1",
        initial_comment: "Your *invoice*",
      },
    });
    expect(requests).toHaveLength(3);
  });

  it("shares several files in one message", async () => {
    const second = { ...TICKET, file_id: "F2" };
    const outcome = await post(
      { "files.getUploadURLExternal": [TICKET, second] },
      { ...MESSAGE, text: "", files: [MEDIA, { ...MEDIA, name: "terms.pdf" }] },
    );
    const body = new URLSearchParams(outcome.requests.at(-1)?.body);
    expect(JSON.parse(body.get("files") ?? "")).toEqual([
      { id: "F1", title: "invoice.pdf" },
      { id: "F2", title: "terms.pdf" },
    ]);
    expect(body.has("initial_comment")).toBe(false);
    expect(outcome.posted).toEqual({ messageId: "9.9" });
  });

  it("finds out its message, which Slack posts after its answer", async () => {
    const outcome = await post({
      "files.completeUploadExternal": NOT_SHARED_YET,
      "files.info": [
        { ok: true, file: { id: "F1" } },
        { ok: true, file: { id: "F1", shares: { private: SHARED } } },
      ],
    });
    expect(outcome.posted).toEqual({ messageId: "9.9" });
    expect(pathsOf(outcome).filter((path) => path === "files.info")).toHaveLength(2);
  });

  it.each<Answer>([{ ok: false, error: "missing_scope" }, { ok: true, file: { id: "F1" } }, "cut"])(
    "is posted also if its message stays unknown: %j",
    async (answer) => {
      const outcome = await post({
        "files.completeUploadExternal": NOT_SHARED_YET,
        "files.info": answer,
      });
      expect(outcome.posted).toEqual({ messageId: "file:F1" });
    },
  );

  it.each<readonly [string, Answer, number]>([
    ["once if the app may not read files", { ok: false, error: "missing_scope" }, 1],
    ["five times at most", { ok: true, file: { id: "F1" } }, 5],
  ])("asks for its message %s", async (_title, answer, times) => {
    const outcome = await post({ "files.completeUploadExternal": NOT_SHARED_YET, "files.info": answer });
    expect(pathsOf(outcome).filter((path) => path === "files.info")).toHaveLength(times);
    expect(outcome.posted).toEqual({ messageId: "file:F1" });
  });

  it("tells when a lost answer means that nothing was posted", async () => {
    const { sent } = await post();
    expect(sent).toEqual([false, true]);
  });
});

describe("a lost answer", () => {
  const error = (status: number): Response => new Response("oops", { status });

  it.each<readonly [string, Answer]>([
    ["files.getUploadURLExternal", "cut"],
    ["files.getUploadURLExternal", error(500)],
    ["files.getUploadURLExternal", { ok: false, error: "internal_error" }],
    ["abc", "cut"],
    ["abc", error(502)],
  ])("before the file is shared did nothing: %s", async (path, answer) => {
    const outcome = await post({ [path]: answer });
    expect(outcome.failure).toEqual({ kind: "transient", code: "upload-failed" });
    expect(pathsOf(outcome)).not.toContain("files.completeUploadExternal");
  });

  it.each<Answer>(["cut", error(500), { ok: false, error: "fatal_error" }])(
    "of the sharing is found out by the file",
    async (answer) => {
      const outcome = await post({ "files.completeUploadExternal": answer });
      expect(outcome.posted).toEqual({ messageId: "9.9" });
    },
  );

  it("of the sharing stays unknown if the file has no message", async () => {
    const outcome = await post({
      "files.completeUploadExternal": "cut",
      "files.info": { ok: true, file: { id: "F1", shares: {} } },
    });
    expect(outcome.failure).toEqual({ kind: "unknown", code: "no-answer" });
    expect(pathsOf(outcome).filter((path) => path === "files.completeUploadExternal")).toHaveLength(1);
  });
});

describe("a refusal", () => {
  it.each<readonly [string, Answer, CallFailure]>([
    [
      "files.getUploadURLExternal",
      { ok: false, error: "file_upload_size_restricted" },
      { kind: "rejected", code: "file-refused", about: "file" },
    ],
    [
      "files.getUploadURLExternal",
      { ok: false, error: "missing_scope" },
      { kind: "rejected", code: "files-scope-missing", about: "file" },
    ],
    [
      "files.getUploadURLExternal",
      { ok: false, error: "token_revoked" },
      { kind: "misconfigured", code: "credentials-refused" },
    ],
    ["abc", new Response("no", { status: 413 }), { kind: "rejected", code: "too-large", about: "file" }],
    [
      "files.completeUploadExternal",
      { ok: false, error: "channel_not_found" },
      { kind: "gone", code: "chat-closed" },
    ],
    [
      "files.completeUploadExternal",
      new Response("slow down", { status: 429, headers: { "retry-after": "7" } }),
      { kind: "retry-after", code: "too-many-requests", retryAfterMs: 7000 },
    ],
  ])("ends the upload: %s %j", async (path, answer, failure) => {
    const outcome = await post({ [path]: answer });
    expect(outcome.failure).toEqual(failure);
    expect(pathsOf(outcome).at(-1)).toBe(path);
  });
});
