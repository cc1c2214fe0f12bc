import { describe, expect, it } from "vitest";
import { KEPT_KEYS_MS } from "../../../src/inbox/kept-keys.ts";
import { ChatAliases } from "../../../src/messengers/root/chats/chat-aliases.ts";
import { createRootStore } from "../../../src/messengers/root/root-store.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MOVE = {
  from: { chatId: "-5", threadId: "telegram:-5" },
  to: { chatId: "-1005", threadId: "telegram:-1005" },
};
const OLD = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const NEW = { id: "telegram:-1005", chatId: "-1005", isDirectMessage: false };

function createRig() {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const start = () => {
    const store = createRootStore(database);
    return { store, aliases: new ChatAliases({ clock, store }) };
  };
  return { clock, start };
}

describe("the chats that a root knows under two ids", () => {
  it("are the same thread under both, also after a restart", () => {
    const { start } = createRig();
    start().aliases.learn("telegram", MOVE);
    const { aliases } = start();
    expect(aliases.firstThread("telegram", NEW)).toEqual(OLD);
    expect(aliases.firstThread("telegram", OLD)).toEqual(OLD);
    expect([OLD, NEW].map((thread) => aliases.moveOf("telegram", thread))).toEqual([MOVE, MOVE]);
  });

  it("leave other chats, and other messengers, alone", () => {
    const { aliases } = createRig().start();
    aliases.learn("telegram", MOVE);
    const other = { id: "telegram:-6", chatId: "-6", isDirectMessage: false };
    expect(aliases.firstThread("telegram", other)).toBe(other);
    expect(aliases.firstThread("second-bot", NEW)).toBe(NEW);
    expect(aliases.moveOf("second-bot", NEW)).toBeUndefined();
  });

  it("keep the topics apart that the new one gets as a forum, while General goes on", () => {
    const { aliases } = createRig().start();
    aliases.learn("telegram", MOVE);
    const topic = { ...NEW, id: "telegram:-1005:45", topicId: "45" };
    expect(aliases.firstThread("telegram", topic)).toEqual({ ...topic, chatId: "-5" });
    expect(aliases.moveOf("telegram", topic)).toBeUndefined();
    expect(aliases.firstThread("telegram", NEW).id).toBe(OLD.id);
  });

  it("believe the first word, and none that leads in a circle", () => {
    const { start } = createRig();
    const { aliases } = start();
    aliases.learn("telegram", MOVE);
    aliases.learn("telegram", { from: MOVE.from, to: { chatId: "-7", threadId: "telegram:-7" } });
    aliases.learn("telegram", { from: MOVE.to, to: MOVE.from });
    aliases.learn("telegram", { from: MOVE.to, to: MOVE.to });
    expect(start().aliases.firstThread("telegram", NEW)).toEqual(OLD);
    expect(start().store.aliases()).toHaveLength(1);
  });

  it("name a conversation that was faster than the news for as long as its events may come again", async () => {
    const { clock, start } = createRig();
    const { aliases, store } = start();
    store.touch("thread:telegram:telegram%3A-1005", "telegram", NEW, clock.now());
    aliases.learn("telegram", MOVE);
    expect(store.directory(10)).toEqual([]);
    expect(start().aliases.twinOf("telegram", NEW)).toBe("thread:telegram:telegram%3A-1005");
    expect(aliases.twinOf("telegram", OLD)).toBeUndefined();
    await clock.advance(KEPT_KEYS_MS + 1);
    expect(aliases.twinOf("telegram", NEW)).toBeUndefined();
  });

  it("name none where nothing was faster", () => {
    const { aliases } = createRig().start();
    aliases.learn("telegram", MOVE);
    expect(aliases.twinOf("telegram", NEW)).toBeUndefined();
  });
});
