import { describe, expect, it } from "vitest";
import type { ChatFacts } from "../../../src/core/chat/chat.ts";
import type { Database } from "../../../src/core/store/database.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import type { MessengerThread } from "../../../src/core/chat/messenger-event.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { ChatAliases } from "../../../src/messengers/root/chats/chat-aliases.ts";
import { ChatDirectory } from "../../../src/messengers/root/chats/chat-directory.ts";
import { createChatStore } from "../../../src/messengers/root/chats/chat-store.ts";
import { createRootStore } from "../../../src/messengers/root/root-store.ts";
import { definitionOf } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const HOUR_MS = 3_600_000;
const ADA: ChatFacts = { kind: "private", title: "Ada", language: "en", userId: "7", isReachable: true };
const MOVE = {
  from: { chatId: "-5", threadId: "telegram:-5" },
  to: { chatId: "-1005", threadId: "telegram:-1005" },
};

function createRig() {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  let writes = 0;
  const counting: Database = {
    all: (...asked) => database.all(...asked),
    transaction: (body) => database.transaction(body),
    run(...asked) {
      writes += 1;
      return database.run(...asked);
    },
  };
  const base = definitionOf();
  const [definition] = normalizeMessengers({
    telegram: { ...base, platform: { ...base.platform, describeChat: ({ raw }) => raw as ChatFacts } },
  });
  if (definition === undefined) throw new Error("no messenger");
  const start = () => {
    const aliases = new ChatAliases({ clock, store: createRootStore(database) });
    const chats = new ChatDirectory({ clock, store: createChatStore(counting), aliases });
    const sees = (chatId: string, raw: ChatFacts, thread: Partial<MessengerThread> = {}) => {
      const isDirectMessage = raw.kind === "private";
      const id = `telegram:${chatId}`;
      writes = 0;
      chats.observe(definition, { key: "m", thread: { id, chatId, isDirectMessage, ...thread }, raw });
      return writes;
    };
    const moves = () => {
      if (aliases.learn("telegram", MOVE)) chats.moved("telegram", "-5", "-1005");
    };
    return { chats, entries: () => chats.list({}).chats, sees, moves };
  };
  return { clock, start };
}

describe("the directory of chats", () => {
  it("has what the platform tells, also after a restart", () => {
    const { clock, start } = createRig();
    const now = clock.now();
    const { sees } = start();
    sees("7", ADA);
    sees("-100", { kind: "channel", title: "News" });
    expect(start().entries()).toEqual([
      {
        messengerId: "telegram",
        chatId: "-100",
        aliases: [],
        kind: "channel",
        title: "News",
        topics: [],
        lastSeenAt: now,
      },
      {
        messengerId: "telegram",
        chatId: "7",
        aliases: [],
        kind: "private",
        title: "Ada",
        language: "en",
        userId: "7",
        topics: [],
        lastSeenAt: now,
      },
    ]);
  });

  it("writes nothing for an event that shows nothing new within an hour, and else one row", async () => {
    const { clock, start } = createRig();
    const { entries, sees } = start();
    expect(sees("7", ADA)).toBe(1);
    await clock.advance(HOUR_MS - 1);
    expect(sees("7", ADA)).toBe(0);
    expect(sees("7", { kind: "private", isReachable: true })).toBe(0);
    expect(sees("7", { ...ADA, title: "Ada L." })).toBe(1);
    await clock.advance(HOUR_MS);
    expect(sees("7", ADA)).toBe(1);
    expect(sees("7", ADA)).toBe(0);
    expect(entries()).toMatchObject([{ title: "Ada", language: "en", lastSeenAt: clock.now() }]);
    const restarted = start();
    expect(restarted.sees("7", ADA)).toBe(0);
  });

  it("knows topics by the newest name, and by the first one until then", async () => {
    const { clock, start } = createRig();
    const { entries, sees } = start();
    const inTopic = (topic: ChatFacts["topic"]): number =>
      sees("-100", { kind: "supergroup", isReachable: true, ...(topic && { topic }) });
    inTopic({ id: "4" });
    expect(entries()[0]?.topics).toEqual([{ topicId: "4", lastSeenAt: clock.now() }]);
    expect(inTopic({ id: "4", firstName: "Orders" })).toBe(1);
    expect(inTopic({ id: "4", firstName: "Orders" })).toBe(0);
    inTopic({ id: "4", name: "Shipping" });
    expect(inTopic({ id: "4", firstName: "Orders" })).toBe(0);
    await clock.advance(HOUR_MS);
    inTopic({ id: "9", name: "Bugs" });
    expect(start().entries()[0]?.topics).toEqual([
      { topicId: "9", name: "Bugs", lastSeenAt: clock.now() },
      { topicId: "4", name: "Shipping", lastSeenAt: clock.now() - HOUR_MS },
    ]);
  });

  it("keeps the entry of a chat that moves, with the id that it had", () => {
    const { start } = createRig();
    const { entries, moves, sees } = start();
    sees("-5", { kind: "group", title: "Readers", isReachable: true });
    moves();
    sees("-5", { kind: "group", title: "Old", isReachable: true });
    expect(entries()).toMatchObject([{ chatId: "-1005", aliases: ["-5"], kind: "group", title: "Readers" }]);
    sees("-1005", { kind: "supergroup", isReachable: true });
    expect(start().entries()).toMatchObject([
      { chatId: "-1005", aliases: ["-5"], kind: "supergroup", title: "Readers" },
    ]);
  });

  it("makes one entry of two when the new chat was seen before it was known to be an old one", () => {
    const { start } = createRig();
    const { entries, moves, sees } = start();
    sees("-5", { kind: "group", title: "Readers", topic: { id: "4", name: "One" }, isReachable: true });
    sees("-1005", { kind: "supergroup", title: "Readers!", isReachable: true });
    moves();
    expect(entries()).toMatchObject([
      { chatId: "-1005", kind: "supergroup", title: "Readers!", topics: [{ topicId: "4", name: "One" }] },
    ]);
  });
});

describe("a chat that is gone", () => {
  it("has the time and the code of the refused call, until a person is heard there", async () => {
    const { clock, start } = createRig();
    const { chats, entries, sees } = start();
    sees("7", ADA);
    await clock.advance(1000);
    chats.gone("telegram", "7", "bot-blocked", clock.now());
    chats.gone("telegram", "7", "later", clock.now() + 5);
    expect(start().entries()).toMatchObject([{ goneSince: clock.now(), goneCode: "bot-blocked" }]);
    sees("7", { kind: "private" });
    expect(entries()).toMatchObject([{ goneCode: "bot-blocked" }]);
    expect(sees("7", ADA)).toBe(1);
    expect(entries()[0]).not.toHaveProperty("goneSince");
    expect(start().entries()[0]).not.toHaveProperty("goneCode");
  });

  it("is gone when the platform says that the bot was removed", async () => {
    const { clock, start } = createRig();
    const { entries, sees } = start();
    sees("-100", { kind: "supergroup", isReachable: false });
    const since = clock.now();
    await clock.advance(1000);
    sees("-100", { kind: "supergroup", isReachable: false });
    expect(entries()).toMatchObject([{ goneSince: since, goneCode: "left" }]);
  });

  it("is gone for the reason that the platform tells", () => {
    const { entries, sees } = createRig().start();
    sees("7", { kind: "private", isReachable: false, goneCode: "window-closed" });
    expect(entries()).toMatchObject([{ goneCode: "window-closed" }]);
    sees("7", ADA);
    expect(entries()[0]).not.toHaveProperty("goneCode");
  });

  it("is not gone for a call that was refused before a person was heard", async () => {
    const { clock, start } = createRig();
    const { chats, entries, sees } = start();
    const refusedAt = clock.now();
    await clock.advance(1000);
    sees("7", ADA);
    chats.gone("telegram", "7", "bot-blocked", refusedAt);
    expect(entries()[0]).not.toHaveProperty("goneSince");
  });

  it("is not listed when it was never seen", () => {
    const { chats, entries } = createRig().start();
    chats.gone("telegram", "7", "bot-blocked", 1);
    expect(entries()).toEqual([]);
  });
});

describe("a page", () => {
  it("goes on where the one before ended, whatever the filter", () => {
    const { chats, sees } = createRig().start();
    for (let id = 1; id <= 30; id += 1) {
      const kind = id % 3 === 0 ? "channel" : "private";
      sees(String(id), { kind, isReachable: id % 5 !== 0 });
    }
    const all = (filter: Parameters<typeof chats.list>[0]): string[] => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = chats.list({ ...filter, limit: 4, ...(cursor !== undefined && { cursor }) });
        expect(page.chats.length).toBeLessThanOrEqual(4);
        ids.push(...page.chats.map(({ chatId }) => chatId));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(new Set(ids).size).toBe(ids.length);
      return ids.sort((one, other) => Number(one) - Number(other));
    };
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    const where = (test: (id: number) => boolean): string[] => ids.filter(test).map(String);
    expect(all({})).toEqual(ids.map(String));
    expect(all({ messengerId: "telegram" })).toEqual(ids.map(String));
    expect(all({ messengerId: "other" })).toEqual([]);
    expect(all({ kind: "channel" })).toEqual(where((id) => id % 3 === 0));
    expect(all({ isGone: true })).toEqual(where((id) => id % 5 === 0));
    expect(all({ isGone: false })).toEqual(where((id) => id % 5 !== 0));
    expect(all({ messengerId: "telegram", kind: "channel", isGone: true })).toEqual(["15", "30"]);
    expect(all({ kind: "private", isGone: false })).toEqual(where((id) => id % 3 !== 0 && id % 5 !== 0));
  });

  it.each([{ cursor: "x" }, { cursor: '["one"]' }, { limit: 0 }, { limit: 1001 }, { limit: 1.5 }])(
    "is refused for %j",
    (filter) => {
      const { chats } = createRig().start();
      let code: string | undefined;
      try {
        chats.list(filter);
      } catch (error) {
        code = errorCode(error);
      }
      expect(code).toBe("chat-filter-invalid");
    },
  );
});
