import { describe, expect, it } from "vitest";
import type { OutgoingFile } from "../../../src/core/message/content.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import type { FileCapabilities } from "../../../src/core/chat/surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { FileStore } from "../../../delivery/files/file-store.ts";
import { storeBytes, storeFile } from "../../../delivery/files/store-file.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MEBIBYTE = 1024 * 1024;
const capabilities: FileCapabilities = {
  maxBytes: (kind) => ({ photo: 100, video: 0 })[kind as string] ?? 3 * MEBIBYTE,
  maxAlbumSize: 10,
  callTimeoutMs: 60_000,
};

function rig(
  respond: (url: string) => Response | Promise<Response> = () => new Response("x"),
  more: Partial<FileCapabilities> = {},
) {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const store = new FileStore(database);
  const fetched: string[] = [];
  let marks = 0;
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    fetched.push(url);
    return respond(url);
  };
  const add = (file: OutgoingFile, signal = new AbortController().signal) =>
    storeFile(file, {
      store,
      deps: { clock, fetch, newId: () => `mark-${(marks += 1)}` },
      capabilities: { ...capabilities, ...more },
      signal,
    });
  const rows = () => database.all("SELECT id FROM file_v1").length;
  const pieces = () =>
    database.all<{ n: number }>("SELECT length(bytes) AS n FROM file_piece_v1").map(({ n }) => n);
  return { add, clock, database, fetched, pieces, rows, store };
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

const document = (source: OutgoingFile["source"], more: Partial<OutgoingFile> = {}): OutgoingFile => ({
  kind: "document",
  source,
  ...more,
});
const codeOf = (work: Promise<unknown>): Promise<string | undefined> => work.then(() => "none", errorCode);

describe("a file of a kind that the platform does not take", () => {
  const video = (source: OutgoingFile["source"]): OutgoingFile => ({ kind: "video", name: "a.mp4", source });

  it("is a link that people read in its place", async () => {
    const { add, fetched } = rig();
    expect(await add(video({ url: "https://shop.example/a.mp4" }))).toMatchObject({
      kind: "video",
      refusal: { code: "files-unsupported", text: String.raw`[a\.mp4](<https://shop.example/a.mp4>)` },
    });
    expect(fetched).toEqual([]);
  });

  it("is refused without an address", async () => {
    const { add } = rig();
    expect(await codeOf(add(video(new Uint8Array(3))))).toBe("files-unsupported");
  });
});

describe("a picture on a platform that shows some types", () => {
  const more = { photoTypes: ["image/png", "image/jpeg", "image/gif"] };
  const heads = {
    png: "\x89PNG\r\n\x1a\n",
    jpeg: "\xff\xd8\xff\xe0",
    gif: "GIF89a",
    webp: "RIFF\x24\0\0\0WEBPVP8 ",
    svg: "<svg xmlns='http://www.w3.org/2000/svg'/>",
    heic: "\0\0\0\x18ftypheic",
  };
  const bytesOf = (type: keyof typeof heads): Uint8Array =>
    Uint8Array.from(Buffer.from(heads[type], "latin1"));
  const photo = (source: OutgoingFile["source"], name?: string): OutgoingFile => ({
    kind: "photo",
    source,
    ...(name !== undefined && { name }),
  });

  it.each(["png", "jpeg", "gif"] as const)("is sent, with the type of its bytes: %s", async (type) => {
    const { add } = rig(undefined, more);
    expect(await add(photo(bytesOf(type)))).toMatchObject({
      mediaType: `image/${type}`,
      source: { kind: "bytes" },
    });
  });

  it.each(["webp", "svg", "heic"] as const)(
    "is a link or refused, whatever its name says: %s",
    async (type) => {
      const { add } = rig(() => new Response(bytesOf(type) as Uint8Array<ArrayBuffer>), more);
      const sent = await add(photo({ url: "https://shop.example/a.png" }, "a.png"));
      expect(sent.refusal?.text).toBe(String.raw`[a\.png](<https://shop.example/a.png>)`);
      expect(await codeOf(add(photo(bytesOf(type), "a.png")))).toBe("files-unsupported");
    },
  );

  const frame = "\x21\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0";
  const table = "\0\0\0\xff\xff\xff";
  const gifOf = (...blocks: readonly string[]): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(Buffer.from(`GIF89a\x01\0\x01\0\x80\0\0${table}${blocks.join("")};`, "latin1"));
  const loop = "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0";

  it("is a link or refused if it is a GIF that moves", async () => {
    for (const moving of [gifOf(loop, frame, frame), gifOf(frame, frame)]) {
      const { add, store } = rig(() => new Response(moving), more);
      const sent = await add(photo({ url: "https://shop.example/a.gif" }, "a.gif"));
      expect(sent.refusal?.text).toBe(String.raw`[a\.gif](<https://shop.example/a.gif>)`);
      expect(await codeOf(add(photo(moving)))).toBe("files-unsupported");
      const { storedId } = await storeBytes(moving, {
        store,
        deps: { clock: createVirtualClock(), fetch, newId: () => "m" },
        signal: new AbortController().signal,
      });
      expect(await codeOf(add(photo({ storedId, sizeBytes: moving.length })))).toBe("files-unsupported");
    }
  });

  it("is sent if it is a GIF of one picture, or one that is cut off", async () => {
    const { add } = rig(undefined, more);
    for (const still of [gifOf(loop, frame), gifOf(frame).slice(0, 30), gifOf()])
      expect(await add(photo(still))).toMatchObject({ mediaType: "image/gif", source: { kind: "bytes" } });
  });

  it("is of any type elsewhere", async () => {
    const { add } = rig();
    expect(await add(photo(bytesOf("webp")))).toMatchObject({ mediaType: "image/webp" });
  });
});

describe("storing a file", () => {
  it("takes bytes, a blob and a stream for the same file, and stores it once", async () => {
    const { add, rows, store } = rig();
    const bytes = new TextEncoder().encode("hello");
    const files = [
      await add(document(bytes)),
      await add(document(new Blob(["hello"], { type: "text/plain" }))),
      await add(document(new Blob(["hello"]).stream())),
    ];
    const hashes = files.map(({ source }) => (source.kind === "bytes" ? source.hash : ""));
    expect(new Set(hashes).size).toBe(1);
    expect(files.map(({ mediaType }) => mediaType)).toEqual([
      "application/octet-stream",
      "text/plain",
      "application/octet-stream",
    ]);
    expect(rows()).toBe(1);
    expect(await textOf(store.open(hashes[0] ?? ""))).toBe("hello");
  });

  it("cuts any stream into pieces of a mebibyte", async () => {
    const { add, pieces } = rig();
    await add(document(new Blob([new Uint8Array(700_000), new Uint8Array(700_000)]).stream()));
    await add(document(new Uint8Array(2 * MEBIBYTE + 1)));
    expect(pieces()).toEqual([MEBIBYTE, 1_400_000 - MEBIBYTE, MEBIBYTE, MEBIBYTE, 1]);
  });

  it("names files and their types by what is known", async () => {
    const { add } = rig();
    const bytes = new Uint8Array([1]);
    const named = async (file: OutgoingFile) => {
      const { mediaType, name } = await add(file);
      return [name, mediaType];
    };
    expect(await named(document(bytes, { name: "Invoice.PDF" }))).toEqual(["Invoice.PDF", "application/pdf"]);
    expect(await named(document(bytes, { mediaType: "text/csv" }))).toEqual(["document.csv", "text/csv"]);
    expect(await named(document(new Blob(["a"], { type: "text/csv;charset=utf-8" })))).toEqual([
      "document.csv",
      "text/csv",
    ]);
    expect(await named({ kind: "photo", source: bytes })).toEqual(["photo.jpg", "image/jpeg"]);
    expect(await named({ kind: "photo", source: { fileId: "f" } })).toEqual(["photo.jpg", "image/jpeg"]);
  });

  it.each(["image/png\r\nx-more: 1", "image/\npng", "png", "", "bild/\u00e4"])(
    "ignores %j, which is no media type and would be a header of the upload",
    async (mediaType) => {
      const { add } = rig(() => new Response("x", { headers: { "content-type": "no type" } }));
      const bytes = new Uint8Array([1]);
      expect(await add(document(bytes, { name: "a.pdf", mediaType }))).toMatchObject({
        mediaType: "application/pdf",
      });
      expect(await add(document({ url: "https://files.example/a" }, { mediaType }))).toMatchObject({
        mediaType: "application/octet-stream",
      });
    },
  );

  it("sends a voice message as one only if it is OGG with Opus", async () => {
    const { add } = rig();
    const kindOf = async (text: string) =>
      (await add({ kind: "voice", source: new TextEncoder().encode(text) })).kind;
    expect(await kindOf(`OggS${"\0".repeat(24)}OpusHead`)).toBe("voice");
    expect(await kindOf(`OggS${"\0".repeat(24)}\u0001vorbis`)).toBe("audio");
    expect(await kindOf("ID3")).toBe("audio");
  });

  it("leaves nothing behind of a file that is refused", async () => {
    const { add, pieces, rows } = rig();
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(2 * MEBIBYTE));
      },
      pull(controller) {
        controller.error(new Error("https://secret"));
      },
    });
    expect(await codeOf(add({ kind: "photo", source: new Uint8Array(101) }))).toBe("file-too-large");
    expect(await codeOf(add(document(new Uint8Array(3 * MEBIBYTE + 1))))).toBe("file-too-large");
    expect(await codeOf(add(document(new Uint8Array())))).toBe("file-empty");
    expect(await codeOf(add(document(broken)))).toBe("file-unreadable");
    expect(await codeOf(add(document(new Uint8Array(1), { name: "a\nb" })))).toBe("file-name");
    expect(await codeOf(add(document("bytes" as never)))).toBe("file-source");
    expect([rows(), pieces()]).toEqual([0, []]);
  });

  it("ends when its time is over", async () => {
    const { add, rows } = rig();
    const controller = new AbortController();
    const adding = codeOf(add(document(new ReadableStream()), controller.signal));
    controller.abort();
    expect(await adding).toBe("file-unreadable");
    expect(rows()).toBe(0);
  });
});

describe("a file behind an address", () => {
  it("is fetched from public addresses only, also after a redirect", async () => {
    const { add, fetched, store } = rig((url) =>
      url.endsWith("/moved")
        ? new Response(null, { status: 302, headers: { location: "https://files.example/a.pdf" } })
        : url.endsWith("/inward")
          ? new Response(null, { status: 302, headers: { location: "https://10.0.0.1/a.pdf" } })
          : new Response("pdf", { headers: { "content-type": "application/pdf" } }),
    );
    const file = await add(document({ url: "https://files.example/moved" }));
    expect(file.mediaType).toBe("application/pdf");
    expect(file.source.kind === "bytes" && (await textOf(store.open(file.source.hash)))).toBe("pdf");
    expect(await codeOf(add(document({ url: "https://files.example/inward" })))).toBe("file-address");
    for (const url of [
      "http://files.example/a",
      "https://localhost/a",
      "https://[::1]/a",
      "file:///etc/passwd",
    ])
      expect(await codeOf(add(document({ url })))).toBe("file-address");
    expect(fetched).toEqual([
      "https://files.example/moved",
      "https://files.example/a.pdf",
      "https://files.example/inward",
    ]);
  });

  it("is left to the platform when the bot says so", async () => {
    const { add, fetched } = rig();
    const file = await add(document({ url: "https://files.example/a.pdf", fetchedBy: "platform" }));
    expect(file.source).toEqual({ kind: "address", url: "https://files.example/a.pdf" });
    expect(await codeOf(add(document({ url: "https://10.0.0.1/", fetchedBy: "platform" })))).toBe(
      "file-address",
    );
    expect(fetched).toEqual([]);
  });

  it("is refused with a code, and no word of the address", async () => {
    const address = { url: "https://files.example/a?signature=secret" };
    expect(await codeOf(rig(() => new Response(null, { status: 404 })).add(document(address)))).toBe(
      "file-refused",
    );
    const failing = rig((url) => Promise.reject(new Error(`no way to ${url}`)));
    const error: unknown = await failing.add(document(address)).catch((caught: unknown) => caught);
    expect(errorCode(error)).toBe("file-unreachable");
    expect(String(error)).not.toContain("secret");
  });
});

describe("the store of files", () => {
  it("sweeps what nobody shows, and what a crash has left half written", async () => {
    const { add, clock, rows, store } = rig();
    store.begin(clock.now());
    const file = await add(document(new Uint8Array([1])));
    await add(document(new Uint8Array([2])));
    if (file.source.kind === "bytes") store.hold("r1", [file.source.hash]);
    store.sweep(clock.now());
    expect(rows()).toBe(3);
    store.sweep(clock.now() + 1);
    expect(rows()).toBe(1);
    store.release("r1");
    expect(rows()).toBe(0);
  });
});

describe("bytes that are stored already", () => {
  it("are sent by their id, in the kind that they are, for as long as somebody holds them", async () => {
    const { add, clock, store } = rig();
    const opus = new TextEncoder().encode("OggS\u0000\u0002________________OpusHead and sound");
    const stored = await storeBytes(opus, {
      store,
      deps: { clock, fetch, newId: () => "n" },
      signal: new AbortController().signal,
    });
    expect(stored).toEqual({ storedId: expect.any(String), sizeBytes: opus.length });
    store.hold("attachment", [stored.storedId]);
    const voice = await add({ kind: "voice", source: stored });
    expect(voice).toMatchObject({ kind: "voice", source: { kind: "bytes", hash: stored.storedId } });
    // The reply that shows it holds it too, so that it outlives the attachment.
    store.hold("reply", [stored.storedId]);
    store.release("attachment");
    expect(await textOf(store.open(stored.storedId))).toContain("and sound");
    store.release("reply");
    await expect(add({ kind: "voice", source: stored })).rejects.toMatchObject({ code: "file-source" });
  });

  it("are audio if they are no Opus, and have the limits of their kind", async () => {
    const { add, clock, store } = rig();
    const options = {
      store,
      deps: { clock, fetch, newId: () => "n" },
      signal: new AbortController().signal,
    };
    const source = await storeBytes(new Uint8Array(101), options);
    expect(await add({ kind: "voice", source })).toMatchObject({ kind: "audio" });
    await expect(add({ kind: "photo", source })).rejects.toMatchObject({ code: "file-too-large" });
  });
});
