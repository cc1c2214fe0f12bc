import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import { addressOf } from "./fake-bot-api.ts";
import { createTelegramRig } from "./telegram-rig.ts";
import { token } from "./telegram-updates.ts";

interface Given {
  readonly file?: Record<string, unknown>;
  readonly download?: (url: string, init: RequestInit | undefined) => Response | Promise<Response>;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** Fetches one attachment from a fake Bot API; returns what came back and the addresses that were fetched. */
async function download({ file, download, maxBytes = 100, signal = new AbortController().signal }: Given) {
  const urls: string[] = [];
  const { platform, context } = createTelegramRig({
    fetch: async (input, init) => {
      const url = addressOf(input);
      if (url.endsWith("/getFile")) {
        return Response.json({ ok: true, result: { file_id: "f", file_unique_id: "u", ...file } });
      }
      urls.push(url);
      return download?.(url, init) ?? new Response(null, { status: 500 });
    },
  });
  try {
    const fetched = await platform.fetchAttachment({ fileId: "f" }, context, { maxBytes, signal });
    return { fetched, urls, error: undefined };
  } catch (error) {
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    return { fetched: undefined, urls, error };
  }
}

const octets = { headers: { "content-type": "application/octet-stream" } };

describe("fetching a file again", () => {
  /** A conversation that looks at the same picture turn after turn. */
  function look() {
    const calls: string[] = [];
    const state = { now: 1_800_000_000_000, path: "photos/1.jpg" };
    const { platform, context } = createTelegramRig({
      fetch: async (input) => {
        const name = addressOf(input).split("/").slice(-2).join("/");
        calls.push(name.endsWith("getFile") ? "getFile" : name);
        if (name.endsWith("getFile")) {
          const result = { file_id: "f", file_unique_id: "u", file_path: state.path, file_size: 3 };
          return Response.json({ ok: true, result });
        }
        return name === state.path
          ? new Response(new Uint8Array([1, 2, 3]))
          : new Response(null, { status: 404 });
      },
    });
    const clock = { ...context.deps.clock, now: () => state.now };
    const options = { maxBytes: 100, signal: new AbortController().signal };
    const once = (fileId = "f") =>
      platform.fetchAttachment({ fileId }, { ...context, deps: { ...context.deps, clock } }, options);
    return { calls, state, once };
  }

  it("asks where it is once in an hour", async () => {
    const { calls, state, once } = look();
    await once();
    state.now += 54 * 60_000;
    await once();
    expect(calls).toEqual(["getFile", "photos/1.jpg", "photos/1.jpg"]);
    state.now += 2 * 60_000;
    await once();
    expect(calls.slice(3)).toEqual(["getFile", "photos/1.jpg"]);
  });

  it("asks again when the file is not there any more", async () => {
    const { calls, state, once } = look();
    await once();
    state.path = "photos/2.jpg";
    expect((await once()).bytes).toHaveLength(3);
    expect(calls.slice(2)).toEqual(["photos/1.jpg", "getFile", "photos/2.jpg"]);
  });

  it("asks for each file by itself", async () => {
    const { calls, once } = look();
    await once("f");
    await once("g");
    expect(calls.filter((call) => call === "getFile")).toHaveLength(2);
  });
});

describe("asking about a file", () => {
  const ask = (file: Record<string, unknown>) => {
    const urls: string[] = [];
    const { platform, context } = createTelegramRig({
      fetch: async (input) => {
        urls.push(addressOf(input));
        return Response.json({ ok: true, result: { file_id: "f", file_unique_id: "u", ...file } });
      },
    });
    const signal = new AbortController().signal;
    return { urls, asked: platform.fetchAttachmentMetadata?.({ fileId: "f" }, context, { signal }) };
  };

  it("tells its size and type without its bytes", async () => {
    const { asked, urls } = ask({ file_path: "voice/file_1.oga", file_size: 4096 });
    expect(await asked).toEqual({ sizeBytes: 4096, mediaType: "audio/ogg" });
    expect(urls).toHaveLength(1);
  });

  it("refuses one that the platform no longer offers", async () => {
    await expect(ask({}).asked).rejects.toMatchObject({ code: "attachment-gone" });
  });
});

describe("fetching a file", () => {
  it("gives its bytes, and its media type by the ending of its path", async () => {
    const { fetched, urls } = await download({
      file: { file_path: "photos/file 1.jpg", file_size: 3 },
      download: () => new Response(new Uint8Array([1, 2, 3]), octets),
    });
    expect(fetched).toEqual({ bytes: new Uint8Array([1, 2, 3]), mediaType: "image/jpeg" });
    expect(urls).toEqual([`https://api.telegram.org/file/bot${token}/photos/file%201.jpg`]);
  });

  it("believes a media type that the server knows", async () => {
    const { fetched } = await download({
      file: { file_path: "documents/file_2" },
      download: () => new Response("a,b", { headers: { "content-type": "text/csv; charset=utf-8" } }),
    });
    expect(fetched?.mediaType).toBe("text/csv");
  });

  it.each([
    ["/var/lib/telegram-bot-api/photos/1.jpg", "attachment-local-path"],
    ["C:\\bot\\1.jpg", "attachment-local-path"],
    ["photos/../../../etc/passwd", "attachment-path"],
    ["photos/%2e%2e/%2e%2e/x", "attachment-path"],
    ["photos//1.jpg", "attachment-path"],
    ["photos\\..\\1.jpg", "attachment-path"],
    ["photos/1.jpg?x=1", "attachment-path"],
    ["", "attachment-gone"],
    [undefined, "attachment-gone"],
  ])("refuses the path %s", async (path, code) => {
    const { error, urls } = await download({ file: { file_path: path } });
    expect(errorCode(error)).toBe(code);
    expect(urls).toEqual([]);
  });

  it("refuses a file whose size is known to be too large, without fetching it", async () => {
    const { error, urls } = await download({ file: { file_path: "a.jpg", file_size: 101 } });
    expect(errorCode(error)).toBe("attachment-too-large");
    expect(urls).toEqual([]);
  });

  it("refuses a file that its header says is too large", async () => {
    const { error } = await download({
      file: { file_path: "a.jpg" },
      download: () => new Response("x", { headers: { "content-length": "101" } }),
    });
    expect(errorCode(error)).toBe("attachment-too-large");
  });

  it("stops reading a file that turns out too large", async () => {
    let pulls = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls += 1;
        controller.enqueue(new Uint8Array(40));
      },
      cancel: () => void (isCancelled = true),
    });
    const { error } = await download({ file: { file_path: "a.jpg" }, download: () => new Response(endless) });
    expect(errorCode(error)).toBe("attachment-too-large");
    expect(isCancelled).toBe(true);
    expect(pulls).toBeLessThan(10);
  });

  it("follows no redirect, which would carry the token elsewhere", async () => {
    let redirect: RequestInit["redirect"];
    const { error } = await download({
      file: { file_path: "a.jpg" },
      download: (_url, init) => {
        redirect = init?.redirect;
        return new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } });
      },
    });
    expect(redirect).toBe("manual");
    expect(errorCode(error)).toBe("attachment-refused");
  });

  it("ends when its time is over, also in the middle of the bytes", async () => {
    const controller = new AbortController();
    const { error } = await download({
      file: { file_path: "a.jpg" },
      signal: controller.signal,
      download: () => {
        queueMicrotask(() => controller.abort());
        return new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }));
      },
    });
    expect(errorCode(error)).toBe("attachment-timed-out");
  });

  it("says nothing of the address when the connection fails", async () => {
    const { error } = await download({
      file: { file_path: "a.jpg" },
      download: (url) => Promise.reject(new TypeError(`cannot fetch ${url}`)),
    });
    expect(errorCode(error)).toBe("attachment-connection-lost");
    expect((error as Error).cause).toBeUndefined();
  });

  it("refuses a reference of another provider", async () => {
    const { platform, context } = createTelegramRig();
    const fetching = platform.fetchAttachment({ url: "https://x" }, context, {
      maxBytes: 1,
      signal: new AbortController().signal,
    });
    await expect(fetching).rejects.toMatchObject({ code: "attachment-reference" });
  });
});
