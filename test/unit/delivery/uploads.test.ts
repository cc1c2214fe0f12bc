import { describe, expect, it } from "vitest";
import type { CallOptions, MediaSource, PostedMessage } from "../../../src/core/chat/surface.ts";
import { postTimeoutMs } from "../../../delivery/outbox/reply-timing.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const TEXT_MS = 6_000;
const SEEN = "100";
const FILES = { maxBytes: () => 50 * 1024 * 1024, maxAlbumSize: 10, callTimeoutMs: 60_000 };

type Upload = (options: CallOptions, post: () => Promise<PostedMessage>) => Promise<PostedMessage>;

interface Uploads extends Harness {
  /** Sends a file of this size, and a text right after it. */
  readonly send: (sizeBytes?: number) => Promise<void>;
  /** Time at which the text was posted, in milliseconds after `send`. */
  readonly textAfterMs: () => number | undefined;
}

/** A chat in which the uploads meet these events, one after the other. Later ones succeed. */
function uploads(...events: readonly (Upload | undefined)[]): Uploads {
  const left = [...events];
  const harness = createHarness({
    surface: { probing: true, capabilities: { files: FILES, typing: false } },
    policy: { callTimeoutMs: TEXT_MS },
  });
  const { advance, clock, delivery, surface } = harness;
  const post = surface.post.bind(surface);
  surface.post = (address, message, options) => {
    const event = message.files === undefined ? undefined : left.shift();
    const now = (): Promise<PostedMessage> => post(address, message, options);
    return event === undefined ? now() : event(options, now);
  };
  let begunAt = 0;
  return {
    ...harness,
    async send(sizeBytes = 25) {
      const source = new Uint8Array(sizeBytes);
      const file = await delivery.storeFile(ADDRESS.messengerId, { kind: "document", source });
      begunAt = clock.now();
      delivery.sendFiles(harness.start("f1", { seenMessageId: SEEN }), [file], "");
      delivery.send(harness.start("n1", { seenMessageId: SEEN }), "Later");
      await advance(1);
    },
    textAfterMs: () => {
      const call = surface.calls.find(({ method, text }) => method === "post" && text === "Later");
      return call === undefined ? undefined : call.at - begunAt;
    },
  };
}

const cut = (): never => {
  throw new Error("connection cut");
};
const never = (): Promise<never> => new Promise(() => {});

describe("an upload", () => {
  it("that was cut before its last byte is repeated at once, and found to be unmade without a question", async () => {
    const { advance, delivery, send, surface, textAfterMs } = uploads(async ({ onSent }) => {
      onSent?.(false);
      return cut();
    });
    await send();
    await advance(2_000);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
    expect(textAfterMs()).toBeLessThan(1_000);
    expect(surface.calls.map(({ method }) => method)).toEqual(["post", "post"]);
  });

  it("that stands still ends like a text, and is repeated", async () => {
    const { advance, delivery, send, surface, textAfterMs } = uploads(({ onSent }) => {
      onSent?.(false);
      return never();
    });
    await send(40 * 1024 * 1024);
    await advance(TEXT_MS + 2_000);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
    expect(textAfterMs()).toBeLessThan(TEXT_MS + 1_000);
    expect(surface.messages(ADDRESS.chatId)).toHaveLength(2);
  });

  it.each([
    [25, 0],
    [40 * 1024 * 1024, 3_000],
  ])(
    "of %d bytes whose last byte left without an answer holds up others as long as a text",
    async (sizeBytes, sentAfterMs) => {
      const { advance, clock, delivery, send, surface, textAfterMs } = uploads(async ({ onSent }) => {
        onSent?.(false);
        await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), sentAfterMs));
        onSent?.(true);
        return never();
      });
      await send(sizeBytes);
      await advance(60_000);
      expect(textAfterMs()).toBeGreaterThan(sentAfterMs + TEXT_MS + 2_000);
      expect(textAfterMs()).toBeLessThan(sentAfterMs + TEXT_MS + 4_000);
      expect(delivery.receipt("f1")?.state).toBe("delivered");
      expect(surface.messages(ADDRESS.chatId)).toHaveLength(2);
    },
  );

  it("that was made and lost is found, and nothing is sent twice", async () => {
    const { advance, delivery, send, surface, textAfterMs } = uploads(async ({ onSent }, post) => {
      onSent?.(true);
      await post();
      return cut();
    });
    await send();
    await advance(2_000);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
    expect(textAfterMs()).toBeLessThan(1_000);
    expect(surface.messages(ADDRESS.chatId)).toHaveLength(2);
  });

  it("whose bytes the platform has already is lost like a text", async () => {
    const { advance, delivery, send, start, surface } = uploads(undefined, cut);
    await send(40 * 1024 * 1024);
    await advance(2_000);
    const file = await delivery.storeFile(ADDRESS.messengerId, {
      kind: "document",
      source: new Uint8Array(40 * 1024 * 1024),
    });
    delivery.sendFiles(start("f2", { seenMessageId: SEEN }), [file], "");
    await advance(TEXT_MS + 4_000);
    expect(delivery.receipt("f2")?.state).toBe("delivered");
    expect(surface.calls.at(-1)?.files).toEqual(["document by platform"]);
  });

  it("that moves on is not ended, however long it takes", async () => {
    const { advance, clock, delivery, send, surface } = uploads(async ({ onSent }, post) => {
      for (let step = 0; step < 10; step += 1) {
        onSent?.(false);
        await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 4_000));
      }
      onSent?.(true);
      return post();
    });
    await send(40 * 1024 * 1024);
    await advance(45_000);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
    expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(2);
  });

  it("that is cut again and again lets the texts behind it pass", async () => {
    const { advance, delivery, send, textAfterMs } = uploads(
      ...Array.from({ length: 200 }, (): Upload => async ({ onSent }) => {
        onSent?.(false);
        return cut();
      }),
    );
    await send();
    await advance(30_000);
    expect(textAfterMs()).toBeLessThan(20_000);
    expect(delivery.receipt("f1")?.state).toBe("final");
  });
});

describe("the time limit of a post", () => {
  const limitOf = (source: MediaSource): number => {
    const { surface } = createHarness({ surface: { capabilities: { files: FILES } } });
    const file = { kind: "document", name: "a.pdf", mediaType: "application/pdf", source } as const;
    return postTimeoutMs({ callTimeoutMs: TEXT_MS }, surface, { files: [file] });
  };

  it("is that of a text for 25 bytes and for a file that the platform has", () => {
    expect(limitOf({ kind: "bytes", hash: "h", sizeBytes: 25 })).toBeLessThan(TEXT_MS + 10);
    expect(limitOf({ kind: "platform", fileId: "f" })).toBe(TEXT_MS);
  });

  it("grows with the size, up to that of the largest files", () => {
    expect(limitOf({ kind: "bytes", hash: "h", sizeBytes: 1024 * 1024 })).toBe(TEXT_MS + 8_000);
    expect(limitOf({ kind: "bytes", hash: "h", sizeBytes: 50 * 1024 * 1024 })).toBe(60_000);
  });

  it("has time for the platform to fetch an address", () => {
    expect(limitOf({ kind: "address", url: "https://shop.example/a.pdf" })).toBe(TEXT_MS + 15_000);
  });
});
