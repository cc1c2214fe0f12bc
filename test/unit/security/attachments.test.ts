import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { createMockState } from "@chat-adapter/tests";
import type { Adapter } from "chat";
import { afterEach, describe, expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import { fetchAttachment } from "../../../providers/chat-sdk/attachments.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** A server on this machine; the fetch that comes with it takes every public name to be this server. */
async function serve(listener: RequestListener): Promise<typeof fetch> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  return (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    return fetch(`http://127.0.0.1:${port}${pathname}`, init);
  };
}

interface Given {
  readonly fetch?: typeof fetch;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly hosts?: readonly string[];
  readonly adapter?: Partial<Adapter>;
}

const SECRET = "signature=psst";

/** Fetches by an address; returns what came back, and which addresses were asked for. */
async function get(address: string, given: Given = {}) {
  const asked: string[] = [];
  const { adapter = {}, maxBytes = 1000, signal = new AbortController().signal } = given;
  const network: typeof fetch = (input, init) => {
    asked.push(input instanceof Request ? input.url : String(input));
    return given.fetch?.(input, init) ?? Promise.resolve(new Response("ok"));
  };
  try {
    const file = await fetchAttachment({ type: "file", url: address }, adapter as Adapter, {
      ready: async () => ({ state: createMockState() }),
      fetch: network,
      maxBytes,
      signal,
      ...(given.hosts === undefined ? {} : { hosts: given.hosts }),
    });
    return { code: undefined, file, asked };
  } catch (error) {
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("psst");
    return { code: errorCode(error), file: undefined, asked };
  }
}

describe("addresses that a chat may not make the bot fetch", () => {
  it.each([
    "http://files.example/a",
    "ftp://files.example/a",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "//files.example/a",
    "",
    "https://",
    "https://user:secret@files.example/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.01/",
    "https://0/",
    "https://0.0.0.0/",
    "https://①②⑦.⓪.⓪.①/",
    "https://%31%32%37.0.0.1/",
    "https://127。0。0。1/",
    "https://10.0.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2852039166/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://198.18.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
    "https://[2606:4700::1111]/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://a.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://router.lan/",
    "https://intranet/",
    "https://127.0.0.1.nip.io/",
    "https://7f000001.nip.io/",
    "https://app.0a000001.sslip.io/",
    "https://localtest.me/",
    "https://kubernetes.default.svc/",
    "https://10-0-0-1.sslip.io/",
    "https://www.192.168.0.1.xip.example/",
    "https://169-254-169-254.example.com/",
  ])("refuses %s without asking anybody", async (address) => {
    const { asked, code } = await get(address);
    expect(code).toMatch(/^attachment-(address|reference)$/);
    expect(asked).toEqual([]);
  });

  it.each([
    "https://files.example/a",
    "https://8.8.8.8/",
    "https://cdn-172-15-0-1.example.com/",
    "https://a.b.c.d.e/",
  ])("fetches %s", async (address) => {
    expect((await get(address)).code).toBeUndefined();
  });

  it.each([
    ["https://10.0.0.1/", "attachment-address"],
    ["http://files.example/", "attachment-address"],
    ["//localhost/", "attachment-address"],
    ["https://[::ffff:a00:1]/", "attachment-address"],
    ["https://u:p@files.example/", "attachment-address"],
    ["https://", "attachment-address"],
    ["/again", "attachment-refused"],
  ])("does not follow a redirect to %s", async (location, expected) => {
    const redirect = () => Promise.resolve(new Response(null, { status: 302, headers: { location } }));
    const { asked, code } = await get(`https://files.example/a?${SECRET}`, { fetch: redirect });
    expect(code).toBe(expected);
    expect(asked.every((url) => new URL(url).hostname === "files.example")).toBe(true);
    expect(asked.length).toBeLessThan(6);
  });

  it("fetches from the hosts that the bot names only, redirects included", async () => {
    const hosts = ["cdn.example.com", "*.files.example"];
    for (const host of ["cdn.example.com", "a.files.example", "CDN.example.com."]) {
      expect((await get(`https://${host}/`, { hosts })).code).toBeUndefined();
    }
    for (const host of [
      "example.com",
      "files.example",
      "evilfiles.example",
      "cdn.example.com.evil.example",
    ]) {
      expect((await get(`https://${host}/`, { hosts })).code).toBe("attachment-address");
    }
    const away = () =>
      Promise.resolve(new Response(null, { status: 307, headers: { location: "https://evil.example/" } }));
    const { asked, code } = await get("https://cdn.example.com/", { hosts, fetch: away });
    expect([code, asked]).toEqual(["attachment-address", ["https://cdn.example.com/"]]);
  });
});

describe("the size of a file", () => {
  it("counts what is read, not what a header says", async () => {
    const lying = await serve((_request, response) => {
      response.writeHead(200, { "transfer-encoding": "chunked" });
      for (let count = 0; count < 50; count += 1) response.write(Buffer.alloc(1000));
      response.end();
    });
    expect((await get("https://files.example/a", { fetch: lying })).code).toBe("attachment-too-large");
  });

  it("counts what a compressed file grows to", async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const compressed = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": bomb.length }).end(bomb);
    });
    expect(bomb.length).toBeLessThan(10_000);
    const { code } = await get("https://files.example/a", { fetch: compressed, maxBytes: 10_000 });
    expect(code).toBe("attachment-too-large");
  });

  it.each(["9999999999", "1001"])("believes a header that says too much (%s)", async (length) => {
    let isRead = false;
    const body = new ReadableStream({ pull: () => void (isRead = true) }, { highWaterMark: 0 });
    const announced = () => Promise.resolve(new Response(body, { headers: { "content-length": length } }));
    expect((await get("https://files.example/a", { fetch: announced })).code).toBe("attachment-too-large");
    expect(isRead).toBe(false);
  });

  it.each(["-1", "NaN", "1e3x", ""])("is not misled by a length of %j", async (length) => {
    const body = new Uint8Array(2000);
    const odd = () => Promise.resolve(new Response(body, { headers: { "content-length": length } }));
    expect((await get("https://files.example/a", { fetch: odd })).code).toBe("attachment-too-large");
  });
});

describe("the time of a download", () => {
  it("ends also where the network ignores its signal, before the answer and in the middle of it", async () => {
    for (const fetch of [
      () => new Promise<Response>(() => {}),
      () =>
        Promise.resolve(new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)) }))),
    ]) {
      const controller = new AbortController();
      const getting = get("https://files.example/a", { fetch, signal: controller.signal });
      setImmediate(() => controller.abort(new Error("psst")));
      expect((await getting).code).toBe("attachment-timed-out");
    }
  });
});

describe("an adapter that fetches by itself", () => {
  it("says nothing of its errors", async () => {
    const broken = (): never => {
      throw new Error(`https://files.example/?${SECRET}`);
    };
    for (const adapter of [
      { rehydrateAttachment: broken },
      { rehydrateAttachment: () => ({ type: "file" as const, fetchData: broken }) },
      { rehydrateAttachment: () => ({ type: "file" as const, fetchData: async () => broken() }) },
    ]) {
      expect((await get("https://files.example/a", { adapter })).code).toMatch(/^attachment-/);
    }
  });

  it("gets no more into memory of the conversation than is allowed", async () => {
    const adapter: Partial<Adapter> = {
      rehydrateAttachment: () => ({ type: "file", fetchData: () => Promise.resolve(Buffer.alloc(1001)) }),
    };
    expect((await get("https://files.example/a", { adapter })).code).toBe("attachment-too-large");
  });
});
