import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { ChatFilter, ChatPage } from "../../../src/index.ts";
import { createChatStore } from "../../../src/messengers/root/chats/chat-store.ts";
import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import { captureLog } from "../support/log-lines.ts";
import { testEnv } from "../test-env.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const list = async (world: World, filter: ChatFilter = {}): Promise<ChatPage["chats"]> =>
  (await world.stub.listChats(filter)).chats;
const inGroup = { isGroup: true, mentions: true } as const;

describe("listChats", () => {
  it("has the chats in which the bot was seen, over RPC and after a restart", async () => {
    const world = createWorld();
    await world.write("c1", "Hello", { title: "Ada", language: "de" });
    await world.write("g1", "Hello", { ...inGroup, title: "Readers", topic: "4", topicName: "Orders" });
    await world.shows("c1", "You said: Hello");
    await world.shows("g1/4", "You said: ada: Hello");
    await evictDurableObject(world.stub);
    expect(await list(world)).toMatchObject([
      {
        messengerId: "fake",
        chatId: "c1",
        kind: "private",
        title: "Ada",
        language: "de",
        userId: "ada",
        topics: [],
      },
      { chatId: "g1", kind: "supergroup", title: "Readers", topics: [{ topicId: "4", name: "Orders" }] },
    ]);
    expect(await list(world, { kind: "private" })).toMatchObject([{ chatId: "c1" }]);
    const { chats, cursor } = await world.stub.listChats({ limit: 1 });
    expect(chats).toHaveLength(1);
    expect(await list(world, { limit: 1, ...(cursor !== undefined && { cursor }) })).toMatchObject([
      { chatId: "g1" },
    ]);
  });

  it("knows a chat by its new id and its alias after it has moved", async () => {
    const world = createWorld();
    await world.write("old", "one", { ...inGroup, title: "Readers" });
    await world.write("old", "", { isGroup: true, kind: "moved", movedTo: "new" });
    expect(await list(world)).toMatchObject([{ chatId: "new", aliases: ["old"], title: "Readers" }]);
  });

  it("has since when a chat is gone, as a refused call has shown, until the person is back", async () => {
    captureLog();
    const world = createWorld();
    world.chats.gone.add("c1");
    const from = Date.now();
    await world.write("c1", "Hello");
    await expect
      .poll(() => list(world, { isGone: true }))
      .toMatchObject([{ chatId: "c1", goneCode: "bot-blocked" }]);
    const [entry] = await list(world);
    expect(entry?.goneSince).toBeGreaterThanOrEqual(from);
    world.chats.gone.delete("c1");
    await world.write("c1", "I am back");
    expect(await list(world, { isGone: true })).toEqual([]);
    await world.shows("c1", "You said: Hello", "You said: I am back");
  });

  it("has a chat as gone that the bot was removed from, before anything is sent there", async () => {
    const world = createWorld();
    await world.write("g1", "", { isGroup: true, kind: "member", leaves: true });
    expect(await list(world, { isGone: true })).toMatchObject([{ chatId: "g1", goneCode: "left" }]);
    await world.write("g1", "", { isGroup: true, kind: "member" });
    expect(await list(world, { isGone: true })).toEqual([]);
  });
});

/** The rows that SQLite has read for what `body` asks. */
function rowsRead(storage: DurableObjectStorage, body: (database: Database) => void): number {
  let read = 0;
  const exec = (statement: string, bindings: readonly SqlValue[]): Record<string, SqlValue>[] => {
    const cursor = storage.sql.exec(statement, ...bindings);
    const rows = cursor.toArray() as Record<string, SqlValue>[];
    read += cursor.rowsRead;
    return rows;
  };
  body({
    all: <Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]) =>
      exec(statement, bindings) as Row[],
    run: (statement, ...bindings) => exec(statement, bindings).length,
    transaction: (inner) => storage.transactionSync(inner),
  });
  return read;
}

describe("a directory of 100,000 chats", () => {
  const PAGE = 100;

  it("reads only the rows of its page, whatever the filter and however far the page", async () => {
    const object = testEnv.TestObject.getByName(`chats-${crypto.randomUUID()}`);
    await runInDurableObject(object, (_instance, { storage }) => {
      const count = (body: (database: Database) => void): number => rowsRead(storage, body);
      count((database) => createChatStore(database));
      // Every tenth is a group, every hundredth is gone, half of them belong to a second messenger.
      storage.sql.exec(
        `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100000)
         INSERT INTO chat_v1 SELECT CASE id % 2 WHEN 0 THEN 'one' ELSE 'two' END, printf('%06d', id),
           CASE id % 10 WHEN 3 THEN 'group' ELSE 'private' END, 'title', NULL, id, 0,
           CASE id % 100 WHEN 7 THEN 1 END, NULL FROM n`,
      );
      const cases: readonly (readonly [ChatFilter, string])[] = [
        [{}, "one"],
        [{ messengerId: "two" }, "two"],
        [{ kind: "private" }, "one"],
        [{ kind: "group" }, "two"],
        [{ isGone: true }, "two"],
        [{ isGone: false }, "one"],
        [{ isGone: false, messengerId: "two", kind: "private" }, "two"],
        [{ isGone: true, kind: "private" }, "two"],
      ];
      for (const [filter, messengerId] of cases) {
        for (const after of [undefined, { messengerId, chatId: "050000" }]) {
          const read = count((database) => {
            const found = createChatStore(database).page(filter, after, PAGE + 1);
            expect(found).toHaveLength(PAGE + 1);
          });
          // An index and the row that it names are two reads.
          expect({ filter, after, read: read <= 2 * (PAGE + 1) * 1.1 + 20 }).toEqual({
            filter,
            after,
            read: true,
          });
        }
      }
      const read = count((database) => {
        expect(createChatStore(database).ofPerson("one", "50000")?.chatId).toBe("050000");
      });
      expect(read).toBeLessThan(20);
    });
  });
});
