import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { FileKind, FileSource } from "../../../src/core/message/content.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { OutgoingMedia } from "../../../src/core/chat/surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashWorld } from "./crash-world.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

const CHAT = ADDRESS.chatId;
const MESSENGER = ADDRESS.messengerId;
const FILES = {
  files: { maxBytes: () => 50 * 1024 * 1024, maxAlbumSize: 10, callTimeoutMs: 60_000 },
  location: true,
  typing: false,
} as const;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function createFilesHarness(options: HarnessOptions = {}): Harness {
  return createHarness({
    ...options,
    surface: { ...options.surface, capabilities: { ...FILES, ...options.surface?.capabilities } },
  });
}

const add = (delivery: Delivery, kind: FileKind, source: FileSource): Promise<OutgoingMedia> =>
  delivery.storeFile(MESSENGER, { kind, source });

function storedFiles({ database }: Pick<Harness, "database">): number {
  const [table] = database.all("SELECT 1 AS found FROM sqlite_master WHERE name = 'file_v1'");
  return table === undefined ? 0 : database.all("SELECT id FROM file_v1").length;
}

const filesOf = ({ surface }: Harness) =>
  surface.calls.filter(({ method }) => method === "post").map(({ files }) => files);

describe("a file", () => {
  it("is sent with its caption, and its bytes are deleted when it is delivered", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    const file = await add(delivery, "photo", bytesOf("png"));
    delivery.sendFiles(start("f1"), [file], "**The** lamp", { silent: true });
    expect(storedFiles(harness)).toBe(1);
    await advance(1_000);
    expect(surface.messages(CHAT)).toMatchObject([
      {
        text: "The lamp",
        entities: [{ type: "bold", offset: 0, length: 3 }],
        file: { kind: "photo", name: "photo.jpg", source: { sizeBytes: 3 } },
      },
    ]);
    expect(surface.calls.at(-1)).toMatchObject({ method: "post", silent: true });
    expect(delivery.receipt("f1")).toMatchObject({ state: "delivered", messages: [{ messageId: "101" }] });
    expect(storedFiles(harness)).toBe(0);
  });

  it("without a caption is a message all the same", async () => {
    const { advance, delivery, start, surface } = createFilesHarness();
    delivery.sendFiles(start("f1"), [await add(delivery, "document", bytesOf("pdf"))], "");
    await advance(1_000);
    expect(surface.messages(CHAT)).toMatchObject([{ text: "", file: { kind: "document" } }]);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
  });

  it("is followed by its words where a message has either files or words", async () => {
    const capabilities = { files: { ...FILES.files, maxAlbumSize: 1, hasCaptions: false } };
    const { advance, delivery, start, surface } = createFilesHarness({ surface: { capabilities } });
    const photos = [
      await add(delivery, "photo", bytesOf("png")),
      await add(delivery, "photo", bytesOf("gif")),
    ];
    delivery.sendFiles(start("f1"), photos, "The lamps");
    await advance(5_000);
    expect(surface.messages(CHAT).map(({ file, text }) => [file?.kind, text])).toEqual([
      ["photo", ""],
      [undefined, "The lamps"],
      ["photo", ""],
    ]);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
  });

  it("whose caption is too long continues as text", async () => {
    const limits = { maxLength: 60, maxEntities: 100 };
    const { advance, delivery, start, surface, visible } = createFilesHarness({ surface: { limits } });
    const caption = "One two three four five six seven. ".repeat(4).trim();
    delivery.sendFiles(start("f1"), [await add(delivery, "photo", bytesOf("png"))], caption);
    await advance(5_000);
    expect(visible().join(" ")).toBe(caption);
    expect(surface.messages(CHAT).map(({ file }) => file?.kind)).toEqual([
      "photo",
      ...visible()
        .slice(1)
        .map(() => undefined),
    ]);
  });

  it("that was sent before goes out by the platform's id, and by its bytes when that is refused", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    const send = async (id: string): Promise<void> => {
      delivery.sendFiles(start(id), [await add(delivery, "photo", bytesOf("png"))], "");
      await advance(1_000);
    };
    await send("f1");
    await send("f2");
    expect(filesOf(harness)).toEqual([["photo by bytes"], ["photo by platform"]]);
    surface.forgetFileIds();
    await send("f3");
    expect(filesOf(harness).slice(2)).toEqual([["photo by platform"], ["photo by bytes"]]);
    expect(delivery.receipt("f3")?.state).toBe("delivered");
    expect(surface.messages(CHAT)).toHaveLength(3);
  });

  it("that is refused as a photo goes out as a document, and as a voice message as audio", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    const refuse = (about: "photo" | "voice") =>
      surface.fault("post", { kind: "fail", failure: { kind: "rejected", code: `${about}-refused`, about } });
    refuse("photo");
    delivery.sendFiles(start("f1"), [await add(delivery, "photo", bytesOf("png"))], "Look");
    await advance(1_000);
    refuse("voice");
    const opus = bytesOf(`OggS${"\0".repeat(24)}OpusHead`);
    delivery.sendFiles(start("f2"), [await add(delivery, "voice", opus)], "Listen");
    await advance(1_000);
    expect(surface.messages(CHAT).map(({ file, text }) => [file?.kind, text])).toEqual([
      ["document", "Look"],
      ["audio", "Listen"],
    ]);
  });

  it("that is refused for good is named in its place, fails with its code, and does not stop what follows", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    surface.fault("post", {
      kind: "fail",
      failure: { kind: "rejected", code: "media-forbidden", about: "file" },
    });
    delivery.sendFiles(start("f1"), [await add(delivery, "video", bytesOf("mp4"))], "**Look**");
    delivery.send(start("n1"), "Later");
    await advance(1_000);
    expect(delivery.receipt("f1")).toMatchObject({ state: "failed", code: "media-forbidden" });
    expect(surface.visible(CHAT)).toEqual(["Look\n\nvideo.mp4 is not sent: media-forbidden", "Later"]);
    expect(storedFiles(harness)).toBe(0);
  });

  it("that is refused without a reason is tried without formatting first, then named", async () => {
    const { advance, delivery, start, surface } = createFilesHarness();
    surface.faultAlways(
      "post",
      { kind: "fail", failure: { kind: "rejected", code: "bad-request" } },
      ({ files }) => files !== undefined,
    );
    delivery.sendFiles(start("f1"), [await add(delivery, "document", bytesOf("pdf"))], "**Look**");
    await advance(2_000);
    expect(surface.visible(CHAT)).toEqual(["Look\n\ndocument is not sent: bad-request"]);
    expect(surface.calls.map(({ entities }) => entities)).toEqual([1, 0, 2]);
    expect(delivery.receipt("f1")).toMatchObject({ state: "failed", code: "bad-request" });
  });

  it("of an album that is refused is named, and the others are sent one by one", async () => {
    const { advance, delivery, start, surface } = createFilesHarness();
    surface.faultAlways(
      "post",
      { kind: "fail", failure: { kind: "rejected", code: "address-refused", about: "file" } },
      ({ files = [] }) => files.some((file) => file.endsWith("by address")),
    );
    const bad = add(delivery, "photo", { url: "https://shop.example/b.png", fetchedBy: "platform" });
    const files = [
      await add(delivery, "photo", bytesOf("a")),
      await bad,
      await add(delivery, "photo", bytesOf("c")),
    ];
    delivery.sendFiles(start("f1"), files, "Three");
    await advance(5_000);
    expect(surface.messages(CHAT).map(({ file, text }) => file?.kind ?? text)).toEqual([
      "photo",
      "photo.jpg is not sent: address-refused",
      "photo",
    ]);
    expect(surface.visible(CHAT)[0]).toBe("Three");
    expect(delivery.receipt("f1")).toMatchObject({ state: "failed", code: "address-refused" });
  });

  it("is kept for a reply that still shows it", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    surface.faultAlways(
      "post",
      { kind: "fail", failure: { kind: "transient", code: "down" } },
      ({ text }) => text === "Two",
    );
    delivery.sendFiles(start("f1"), [await add(delivery, "photo", bytesOf("png"))], "One");
    delivery.sendFiles(start("f2"), [await add(delivery, "photo", bytesOf("png"))], "Two");
    await advance(1_000);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
    expect(storedFiles(harness)).toBe(1);
    surface.faultAlways("post", undefined);
    await advance(60_000);
    expect(delivery.receipt("f2")?.state).toBe("delivered");
    expect(storedFiles(harness)).toBe(0);
  });

  it("is kept for a reply that is about to show it, when an earlier one with the same bytes ends", async () => {
    const harness = createFilesHarness();
    const { advance, delivery, start, surface } = harness;
    const read: string[] = [];
    const post = surface.post.bind(surface);
    surface.post = async (address, message, options) => {
      for (const { source } of message.files ?? [])
        if (source.kind === "bytes" && options.openFile !== undefined)
          read.push(await new Response(options.openFile(source.hash)).text());
      return post(address, message, options);
    };
    const first = await add(delivery, "photo", bytesOf("png"));
    // Two more messages show the same bytes. Their other files are still being fetched.
    const second = await add(delivery, "document", bytesOf("png"));
    const third = await add(delivery, "animation", bytesOf("png"));
    delivery.sendFiles(start("f1"), [first], "One");
    await advance(1_000);
    delivery.sendFiles(start("f2"), [second], "Two");
    await advance(1_000);
    delivery.sendFiles(start("f3"), [third], "Three");
    await advance(1_000);
    expect(read).toEqual(["png", "png", "png"]);
    expect(["f1", "f2", "f3"].map((id) => delivery.receipt(id)?.state)).toEqual(Array(3).fill("delivered"));
    expect(storedFiles(harness)).toBe(0);
  });

  it("cannot be stored for a platform that takes none", async () => {
    const { delivery } = createHarness();
    await expect(add(delivery, "photo", bytesOf("png"))).rejects.toMatchObject({ code: "files-unsupported" });
  });
});

describe("an album", () => {
  it("is one message of the receipt, with the ids of all", async () => {
    const harness = createFilesHarness({ surface: { probing: true } });
    const { advance, delivery, start, surface } = harness;
    const files = [await add(delivery, "photo", bytesOf("a")), await add(delivery, "video", bytesOf("b"))];
    delivery.sendFiles(start("f1"), files, "Two");
    delivery.send(start("n1"), "And a text");
    await advance(1_000);
    expect(surface.visible(CHAT)).toEqual(["Two", "", "And a text"]);
    expect(delivery.receipt("f1")?.messages).toMatchObject([
      { messageId: "101", messageIds: ["101", "102"] },
    ]);
    expect(delivery.sentIds({ messengerId: MESSENGER, chatId: CHAT }, 0)).toEqual([102, 101, 103]);
  });

  it("whose answer is lost is found again, with the ids of all, and posted once", async () => {
    const { advance, delivery, start, surface } = createFilesHarness({ surface: { probing: true } });
    delivery.send(start("n0"), "Before");
    await advance(1_000);
    surface.fault("post", { kind: "lose", done: true });
    const files = [await add(delivery, "photo", bytesOf("a")), await add(delivery, "photo", bytesOf("b"))];
    delivery.sendFiles(start("f1"), files, "Two");
    delivery.send(start("n1"), "After");
    await advance(120_000);
    expect(surface.visible(CHAT)).toEqual(["Before", "Two", "", "After"]);
    expect(delivery.receipt("f1")?.messages).toMatchObject([{ state: "sent", messageIds: ["102", "103"] }]);
  });
});

describe("a place", () => {
  it("is posted, and found again when its answer is lost", async () => {
    const { advance, delivery, start, surface } = createFilesHarness({ surface: { probing: true } });
    delivery.send(start("n0"), "Before");
    await advance(1_000);
    surface.fault("post", { kind: "lose", done: true });
    const place = { latitude: 52.5, longitude: 13.4, title: "The shop", address: "Market 1" };
    delivery.sendLocation(start("l1"), place);
    delivery.send(start("n1"), "After");
    await advance(120_000);
    expect(surface.messages(CHAT).map(({ location, text }) => location ?? text)).toEqual([
      "Before",
      place,
      "After",
    ]);
    expect(delivery.receipt("l1")?.state).toBe("delivered");
  });
});

/** What the object does; each step is done again when the process died before it knew that it was stored. */
async function live(crashAt: number): Promise<CrashWorld> {
  const world = createCrashWorld({ probing: true, capabilities: FILES });
  let done = 0;
  const begin = async (at: number): Promise<boolean> => {
    try {
      const process = world.boot(at);
      await process.advance(1);
      void process.delivery.run().catch(ignoreCrash);
      const steps = [
        async () => {
          const files = await Promise.all([
            add(process.delivery, "photo", bytesOf("a")),
            add(process.delivery, "photo", bytesOf("b")),
          ]);
          process.delivery.sendFiles(startOf("f1"), files, "Album");
        },
        async () => process.delivery.sendLocation(startOf("l1"), { latitude: 1, longitude: 2 }),
        async () => {
          process.delivery.sendFiles(
            startOf("f2"),
            [await add(process.delivery, "photo", bytesOf("a"))],
            "Again",
          );
        },
      ];
      while (!process.isDead() && done < steps.length) {
        await steps[done]?.();
        done += 1;
        await process.advance(2_000);
      }
      if (!process.isDead()) await process.advance(180_000);
      return process.isDead();
    } catch (error) {
      ignoreCrash(error);
      return true;
    }
  };
  if (await begin(crashAt)) await begin(Infinity);
  return world;
}

it("shows every file and place once, in order, whenever the process dies", async () => {
  const total = (await live(Infinity)).boundaries().length;
  expect(total).toBeGreaterThan(20);
  for (let crashAt = 1; crashAt <= total; crashAt += 1) {
    const { platform } = await live(crashAt);
    const shown = platform
      .messages(CHAT)
      .map(({ file, location, text }) => (location === undefined ? `${file?.kind} ${text}` : "place"));
    expect({ crashAt, shown }).toEqual({ crashAt, shown: ["photo Album", "photo ", "place", "photo Again"] });
  }
});

it("streams exactly the bytes that were stored", async () => {
  const bytes = new Uint8Array(3 * 1024 * 1024 + 7).map((_, index) => index % 251);
  const read: number[] = [];
  const hash = createHash("sha256");
  const { advance, delivery, start, surface } = createFilesHarness();
  const post = surface.post.bind(surface);
  surface.post = async (address, message, options) => {
    const [file] = message.files ?? [];
    if (file?.source.kind === "bytes" && options.openFile !== undefined) {
      for await (const piece of options.openFile(file.source.hash)) {
        read.push(piece.length);
        hash.update(piece);
      }
    }
    return post(address, message, options);
  };
  // In pieces of any size.
  const source = new Blob([
    bytes.subarray(0, 5),
    bytes.subarray(5, 2_000_000),
    bytes.subarray(2_000_000),
  ]).stream();
  const file = await add(delivery, "document", source);
  delivery.sendFiles(start("f1"), [file], "");
  await advance(1_000);
  expect(file.source).toMatchObject({ sizeBytes: bytes.length });
  expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  expect(Math.max(...read)).toBeLessThanOrEqual(1024 * 1024);
});
