import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { Address } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, realAdapters, startPlatformStub } from "./platform-stub.ts";

let stub: PlatformStub;
beforeAll(async () => {
  for (const level of ["debug", "info", "log", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation(() => undefined);
  stub = await startPlatformStub();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await stub.close();
});

const message = { text: "hello", entities: [] };
const comment = { id: 7, body: "hello", user: { id: 1, login: "bot" }, created_at: "", updated_at: "" };
const answers = {
  github: comment,
  linear: { data: { commentCreate: { success: true, lastSyncId: 1, comment: { id: "c9" } } } },
};

/** Posts, with these headers on every answer, and posts again in another chat. Returns what became of the second post. */
async function secondPost(name: keyof typeof answers, headersAt: (now: number) => Record<string, string>) {
  const real = realAdapters[name](stub.url);
  const { platform } = chatSdkMessenger({ adapter: real.adapter, verifyWebhook: false });
  const { context } = createPlatformContext({});
  const surface = platform.surface(context);
  const { chatId, threadId } = real;
  const address: Address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
  const headers = headersAt(context.deps.clock.now());
  stub.answer((body) =>
    body.includes("viewer")
      ? { status: 200, body: { data: { viewer: { id: "b", displayName: "b", organization: { id: "o" } } } } }
      : { status: 200, headers, body: answers[name] },
  );
  const post = () => surface.post(address, message, { signal: new AbortController().signal });
  await post();
  const calls = stub.requests.length;
  const failure = await post().then(
    () => undefined,
    (error: unknown) => surface.classifyError(error),
  );
  return { failure, isCalled: stub.requests.length > calls };
}

const wait = (retryAfterMs: number) => ({
  failure: { kind: "retry-after", code: "too-many-requests", retryAfterMs },
  isCalled: false,
});
const called = { failure: undefined, isCalled: true };
const seconds = (now: number): string => String(Math.floor(now / 1000) + 90);

it("waits for GitHub's next hour when its last answer had no calls left", async () => {
  const headers = (now: number) => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds(now) });
  expect(await secondPost("github", headers)).toEqual(wait(90_000));
});

it.each([
  [
    "there are calls left",
    (now: number) => ({ "x-ratelimit-remaining": "1", "x-ratelimit-reset": seconds(now) }),
  ],
  [
    "the hour is over",
    (now: number) => ({
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(now / 1000) - 1),
    }),
  ],
  ["the answer tells no limit", () => ({})],
])("calls GitHub again if %s", async (_case, headers) => {
  expect(await secondPost("github", headers)).toEqual(called);
});

it.each([
  [
    "calls",
    (now: number) => ({
      "x-ratelimit-requests-remaining": "0",
      "x-ratelimit-requests-reset": String(now + 30_000),
    }),
    30_000,
  ],
  [
    "complexity",
    (now: number) => ({
      "x-complexity": "12",
      "x-ratelimit-requests-remaining": "100",
      "x-ratelimit-complexity-remaining": "11",
      "x-ratelimit-complexity-reset": String(now + 3_600_000),
    }),
    60_000,
  ],
])("waits when Linear's last answer had no %s left, and never for long", async (_what, headers, waitMs) => {
  expect(await secondPost("linear", headers)).toEqual(wait(waitMs));
});

it("calls Linear again while calls and complexity are left", async () => {
  const headers = (now: number) => ({
    "x-complexity": "12",
    "x-ratelimit-requests-remaining": "1",
    "x-ratelimit-requests-reset": String(now + 30_000),
    "x-ratelimit-complexity-remaining": "12",
    "x-ratelimit-complexity-reset": String(now + 30_000),
  });
  expect(await secondPost("linear", headers)).toEqual(called);
});
