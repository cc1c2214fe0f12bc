import { describe, expect, it } from "vitest";
import { createBotFileIds } from "../../../delivery/index.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { BotFileIds } from "../../../delivery/files/sent-file.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const FILES = {
  files: { maxBytes: () => 50 * 1024 * 1024, maxAlbumSize: 10, callTimeoutMs: 60_000 },
  typing: false,
} as const;
const KIB = 1024;

/** The bot's root, and what it was asked. */
function createRoot() {
  const calls: string[] = [];
  const ids = createBotFileIds({
    database: createNodeDatabase(),
    deps: { clock: createVirtualClock() },
  });
  const fileIds: BotFileIds = {
    findSentFile: (file) => {
      calls.push("find");
      return ids.findSentFile(file);
    },
    noteSentFile: (...told) => {
      calls.push("note");
      return ids.noteSentFile(...told);
    },
    forgetSentFile: (...told) => {
      calls.push("forget");
      return ids.forgetSentFile(...told);
    },
  };
  return { calls, fileIds };
}

/** A conversation of its own, in an object of its own. */
function createConversation(fileIds: BotFileIds): Harness {
  return createHarness({ surface: { capabilities: FILES }, fileIds });
}

async function send(
  { advance, delivery, start }: Harness,
  id: string,
  bytes: number,
  kind: "photo" | "document" = "document",
): Promise<void> {
  const source = new Uint8Array(bytes).fill(7);
  delivery.sendFiles(start(id), [await delivery.storeFile(ADDRESS.messengerId, { kind, source })], "");
  await advance(1_000);
  expect(delivery.receipt(id)?.state).toBe("delivered");
}

const sentBy = ({ surface }: Harness) =>
  surface.calls.filter(({ method }) => method === "post").flatMap(({ files }) => files ?? []);
/** The two conversations write to the same platform. */
const share = (from: Harness, to: Harness, bytes: number): void => {
  for (const { file } of from.surface.messages(ADDRESS.chatId))
    if (file?.source.kind === "bytes" && file.source.sizeBytes === bytes)
      to.surface.knowFile(`file:${file.source.hash}`);
};

describe("a file that another conversation of the bot has sent", () => {
  it("is not uploaded again, if it is not small", async () => {
    const { calls, fileIds } = createRoot();
    const first = createConversation(fileIds);
    await send(first, "f1", 200 * KIB);
    const second = createConversation(fileIds);
    share(first, second, 200 * KIB);
    await send(second, "f1", 200 * KIB);
    await send(second, "f2", 200 * KIB);
    await send(second, "f3", 200 * KIB, "photo");
    expect(sentBy(first)).toEqual(["document by bytes"]);
    expect(sentBy(second)).toEqual(["document by platform", "document by platform", "photo by bytes"]);
    // The root is asked once for each kind, and not at all about a file that this conversation knows.
    expect(calls).toEqual(["find", "note", "find", "find", "note"]);
  });

  it("costs nothing more if it is small, and a message without a file neither", async () => {
    const { calls, fileIds } = createRoot();
    const { advance, delivery, start, ...harness } = createConversation(fileIds);
    await send({ advance, delivery, start, ...harness }, "f1", 10 * KIB);
    delivery.send(start("m1"), "Hello");
    await advance(1_000);
    expect(calls).toEqual([]);
  });

  it("is uploaded if the platform refuses the id, and the bot forgets that id", async () => {
    const { calls, fileIds } = createRoot();
    await send(createConversation(fileIds), "f1", 200 * KIB);
    const second = createConversation(fileIds);
    await send(second, "f1", 200 * KIB);
    expect(sentBy(second)).toEqual(["document by platform", "document by bytes"]);
    expect(second.surface.messages(ADDRESS.chatId)).toHaveLength(1);
    expect(calls).toEqual(["find", "note", "find", "forget", "note"]);
  });

  it("is uploaded if the root does not answer, or fails", async () => {
    const hangs = { ...createRoot().fileIds, findSentFile: () => new Promise<undefined>(() => {}) };
    const silent = createConversation(hangs);
    const sent = send(silent, "f1", 200 * KIB);
    await silent.advance(2_000);
    await sent;
    const failed = () => Promise.reject(new Error("down"));
    const broken = createConversation({ findSentFile: failed, noteSentFile: failed, forgetSentFile: failed });
    await send(broken, "f1", 200 * KIB);
    expect([...sentBy(silent), ...sentBy(broken)]).toEqual(["document by bytes", "document by bytes"]);
  });
});
