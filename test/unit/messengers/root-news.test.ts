import { expect, it } from "vitest";
import type { ChatMove } from "../../../src/core/chat/chat-move.ts";
import { RootNews } from "../../../src/messengers/replies/root-news.ts";
import { createThreadMemory } from "../../../src/messengers/replies/thread-memory.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MOVE: ChatMove = {
  from: { chatId: "-5", threadId: "telegram:-5" },
  to: { chatId: "-1005", threadId: "telegram:-1005" },
};

function createRig() {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const told: (ChatMove | readonly [chatId: string, code: string, at: number])[] = [];
  const wakes: number[] = [];
  const root = { isAway: false };
  const { lines, log } = recordLog();
  const start = () => {
    const memory = createThreadMemory(database);
    const news = new RootNews({
      deps: { clock, newId: () => "id", random: () => 0, fetch },
      log,
      memory,
      root: {
        chatMoved: async (_messengerId, move) => {
          if (root.isAway) throw new Error("away");
          told.push(move);
        },
        chatGone: async (_messengerId, chatId, code, at) => {
          if (root.isAway) throw new Error("away");
          told.push([chatId, code, at]);
        },
        noteUsage: async (used) => {
          if (root.isAway) throw new Error("away");
          told.push([used.chatId, used.turnId, used.inputTokens]);
        },
      },
      wake: { at: (at) => void wakes.push(at) },
    });
    return { memory, news };
  };
  return { clock, events: () => lines.map(({ event }) => event), root, start, told, wakes };
}

it("tells the tokens of a turn until the root knows them, over restarts", async () => {
  const { clock, root, start, told } = createRig();
  const used = {
    turnId: "t1",
    messengerId: "telegram",
    chatId: "5",
    userId: "7",
    at: 1,
    inputTokens: 10,
    outputTokens: 2,
    cost: 0.5,
  };
  const { memory, news } = start();
  memory.keepUntold({ kind: "used", used, keepMs: 1000 });
  root.isAway = true;
  news.tell();
  await clock.settle();
  root.isAway = false;
  const { news: later } = start();
  later.tell();
  await clock.settle();
  expect(told).toEqual([["5", "t1", 10]]);
  expect(later.tellAgainAt).toBeUndefined();
});

it("tells a move until the root knows it, over restarts, and not once more", async () => {
  const { clock, events, root, start, told, wakes } = createRig();
  const { memory, news } = start();
  expect(news.tellAgainAt).toBeUndefined();
  memory.keepUntold({ kind: "moved", messengerId: "telegram", move: MOVE });
  root.isAway = true;
  news.tell();
  news.tell();
  await clock.settle();
  expect([told, events(), wakes]).toEqual([[], ["chat.news-not-told"], [clock.now() + 5000]]);
  root.isAway = false;
  const { news: later } = start();
  expect(later.tellAgainAt).toBe(clock.now() + 5000);
  later.tell();
  await clock.settle();
  expect(told).toEqual([MOVE]);
  expect(later.tellAgainAt).toBeUndefined();
  start().news.tell();
  await clock.settle();
  expect(told).toHaveLength(1);
});

it("tells a move once that is asked for twice while the root answers", async () => {
  const { clock, start, told } = createRig();
  const { memory, news } = start();
  memory.keepUntold({ kind: "moved", messengerId: "telegram", move: MOVE });
  news.tell();
  news.tell();
  await clock.settle();
  expect(told).toEqual([MOVE]);
});

it("tells that a chat is gone, also after a restart", async () => {
  const { clock, root, start, told } = createRig();
  const { memory, news } = start();
  memory.keepUntold({ kind: "gone", messengerId: "telegram", chatId: "7", code: "blocked", at: 12 });
  root.isAway = true;
  news.tell();
  await clock.settle();
  root.isAway = false;
  const { news: later } = start();
  later.tell();
  await clock.settle();
  expect(told).toEqual([["7", "blocked", 12]]);
  expect(later.tellAgainAt).toBeUndefined();
});
