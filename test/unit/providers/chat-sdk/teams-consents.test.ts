import type { Adapter } from "chat";
import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { handleAnswer, postFiles } from "../../../../providers/chat-sdk/adapters/teams-consents.ts";
import { createKeptFiles } from "../../../../providers/chat-sdk/state/kept-file-store.ts";
import type { Deps } from "../../../../src/core/base/deps.ts";

const CHAT = "teams:chat";
const UPLOAD = "https://contoso-my.sharepoint.com/personal/ada/upload?tempauth=t";
const DAY_MS = 24 * 60 * 60_000;
const UNKNOWN = { kind: "unknown", code: "no-answer" } as const;

interface Put {
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: string | undefined;
  readonly bytes: Uint8Array;
}

interface Bot {
  /** The contents of the card after each change. */
  readonly shown: unknown[];
  readonly puts: Put[];
  readonly posted: unknown[];
  post(
    content: Uint8Array<ArrayBuffer>,
    more?: { readonly isDirect?: boolean; readonly count?: number },
  ): Promise<string>;
  answer(value: object, key?: string, chatId?: string): Promise<void>;
  later(ms: number): void;
  /** Has the next edits fail. */
  failEdits(times: number): void;
}

/** @param statuses of the answers to uploads; the last one stays. 0: no answer */
function createBot(...statuses: readonly number[]): Bot {
  let now = 1_800_000_000_000;
  let isDirect = true;
  let failing = 0;
  const shown: unknown[] = [];
  const puts: Put[] = [];
  const posted: unknown[] = [];
  const show = (content: unknown): void => {
    failing -= 1;
    if (failing >= 0) throw new Error("cut");
    shown.push(content);
  };
  const deps: Deps = {
    clock: {
      now: () => now,
      // Limits of calls never pass, and waits at once.
      setTimeout: (callback, delayMs) => delayMs < 60_000 && queueMicrotask(callback),
      clearTimeout: () => undefined,
    },
    newId: () => "unguessable",
    random: () => 0,
    fetch: async (url, { body, headers, redirect } = {}) => {
      const sent = new Uint8Array(await new Response(body).arrayBuffer());
      puts.push({ url: new Request(url).url, headers: new Headers(headers), redirect, bytes: sent });
      const status = statuses[Math.min(puts.length, statuses.length) - 1] ?? 201;
      if (status === 0) throw new TypeError("cut");
      return new Response(null, {
        status,
        ...(status === 302 && { headers: { location: "https://evil.example" } }),
      });
    },
  };
  const adapter = {
    isDM: () => isDirect,
    decodeThreadId: () => ({ conversationId: "c", serviceUrl: "https://smba.example" }),
    editMessage: async (_thread: string, _id: string, { raw }: { readonly raw: string }) => show(raw),
    app: {
      sendTo: async (_target: object, activity: unknown) => {
        posted.push(activity);
        return { id: "card" };
      },
      apiFor: () => ({
        conversations: {
          activities: () => ({ update: async (_id: string, activity: unknown) => show(activity) }),
        },
      }),
    },
  } as unknown as Adapter;
  const keeper = createKeptFiles({ database: createNodeDatabase(), deps });
  const kept = () => keeper;
  return {
    shown,
    puts,
    posted,
    async post(content, { count = 1, isDirect: direct = true } = {}) {
      isDirect = direct;
      const files = Array.from({ length: count }, () => ({
        data: new Blob([content]),
        filename: "a*b*.csv",
      }));
      const kinds = files.map(() => "document" as const);
      const post = { chatId: CHAT, threadId: "t", text: "", files, kinds };
      return postFiles(post, adapter, { ...deps, kept, signal: new AbortController().signal });
    },
    async answer(value, key = "k1", chatId = CHAT) {
      const raw = {
        raw: {
          type: "invoke",
          name: "fileConsent/invoke",
          replyToId: "card",
          value: { context: { file: "unguessable" }, ...value },
        },
      };
      const thread = { id: chatId, chatId, isDirectMessage: true };
      const classify = () => UNKNOWN;
      const options = { ...deps, kept, threadId: "t", classify, textOf: (name: string) => name };
      await handleAnswer({ key, raw, thread }, adapter, options);
    },
    later: (ms) => void (now += ms),
    failEdits: (times) => void (failing = times),
  };
}

const bytes = new TextEncoder().encode("id\n1\n");
const accept = (uploadUrl = UPLOAD): object => ({
  action: "accept",
  uploadInfo: {
    uploadUrl,
    contentUrl: "https://contoso/f",
    name: "a*b*.csv",
    uniqueId: "u",
    fileType: "csv",
  },
});
const FILE = {
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.teams.card.file.info",
      contentUrl: "https://contoso/f",
      name: "a*b*.csv",
      content: { uniqueId: "u", fileType: "csv" },
    },
  ],
};
const NAME = String.raw`**a\*b\*.csv**`;
const FAILED = `${NAME}\n\nfileRefusedText`;
const GONE = "staleActionResponseText";

describe("a file for the OneDrive of a person", () => {
  it("is uploaded with its range and without a token, and the card becomes the file", async () => {
    const bot = createBot();
    const large = new Uint8Array(2_500_000).map((_byte, at) => at % 251);
    await bot.post(large);
    await bot.answer(accept());
    const [put] = bot.puts;
    expect(put).toMatchObject({ url: UPLOAD, redirect: "manual" });
    expect([...(put?.headers ?? [])]).toEqual([["content-range", "bytes 0-2499999/2500000"]]);
    expect(Buffer.from(put?.bytes ?? []).equals(Buffer.from(large))).toBe(true);
    expect(bot.shown).toEqual([FILE]);
  });

  it.each([
    "http://contoso-my.sharepoint.com/upload",
    "https://contoso-my.sharepoint.com:8443/upload",
    "https://ada:secret@contoso-my.sharepoint.com/upload",
    "https://contoso-my.sharepoint.com.evil.example/upload",
    "https://evilsharepoint.com/upload",
    "https://127.0.0.1/upload",
    "https://10.0.0.1.sharepoint.com/upload",
    "https://[::1]/upload",
    "https://localhost/upload",
    "file:///etc/passwd",
    "upload",
  ])("is not uploaded to %s", async (uploadUrl) => {
    const bot = createBot();
    await bot.post(bytes);
    await bot.answer(accept(uploadUrl));
    expect(bot.puts).toEqual([]);
    expect(bot.shown).toEqual([FAILED]);
  });

  it.each([
    ["a redirect", [302], 1],
    ["a session that has ended", [404], 1],
    ["a refusal", [403], 1],
    ["a server that stays down", [503], 3],
  ])("is told in words after %s", async (_what, statuses, tries) => {
    const bot = createBot(...statuses);
    await bot.post(bytes);
    await bot.answer(accept());
    expect(bot.puts).toHaveLength(tries);
    expect(bot.shown).toEqual([FAILED]);
  });

  it.each([
    ["a server that was down", [503, 201]],
    ["a lost answer to an upload that was made", [0, 404]],
    ["a flood", [429, 200]],
  ])("is uploaded after %s", async (_what, statuses) => {
    const bot = createBot(...statuses);
    await bot.post(bytes);
    await bot.answer(accept());
    expect(bot.shown).toEqual([FILE]);
  });

  it("is not taken for uploaded after a flood alone", async () => {
    const bot = createBot(429, 404);
    await bot.post(bytes);
    await bot.answer(accept());
    expect(bot.shown).toEqual([FAILED]);
  });

  it("is kept while its card cannot be changed, for another press", async () => {
    const bot = createBot();
    await bot.post(bytes);
    bot.failEdits(3);
    await expect(bot.answer(accept(), "k1")).rejects.toThrow("The adapter's edit failed: no-answer.");
    await bot.answer(accept(), "k2");
    expect(bot.shown).toEqual([FILE]);
  });

  it("goes to one of several answers", async () => {
    const bot = createBot();
    await bot.post(bytes);
    await bot.answer({ action: "decline" }, "k1");
    await bot.answer(accept(), "k2");
    expect(bot.shown).toEqual([NAME]);
    expect(bot.puts).toEqual([]);
  });

  it("belongs to one chat, for a week", async () => {
    const bot = createBot();
    await bot.post(bytes);
    await bot.answer(accept(), "k1", "teams:other");
    bot.later(8 * DAY_MS);
    await bot.answer(accept(), "k2");
    expect(bot.shown).toEqual([GONE, GONE]);
    expect(bot.puts).toEqual([]);
  });

  it.each([
    ["in a channel", { isDirect: false }],
    ["in an album", { count: 2 }],
  ])("is refused %s before anything is posted", async (_where, more) => {
    const bot = createBot();
    await expect(bot.post(bytes, more)).rejects.toMatchObject({
      failure: { kind: "rejected", about: "file" },
    });
    expect(bot.posted).toEqual([]);
  });
});
