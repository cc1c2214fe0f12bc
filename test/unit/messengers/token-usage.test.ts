import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { costOf } from "../../../src/core/turn/used-tokens.ts";
import type { UsedTokens } from "../../../src/core/turn/used-tokens.ts";
import { createTokenUsageStore } from "../../../src/messengers/root/token-usage-store.ts";
import { TurnLimits } from "../../../src/messengers/root/turn-limits.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 24 * 60 * 60_000;

function turn(id: string, more: Partial<UsedTokens> = {}): UsedTokens {
  return {
    turnId: id,
    messengerId: "telegram",
    chatId: "-100",
    userId: "7",
    at: NOON,
    inputTokens: 100,
    outputTokens: 10,
    cost: 0.25,
    ...more,
  };
}

function createStore(...turns: readonly UsedTokens[]) {
  const database = createNodeDatabase();
  const store = createTokenUsageStore(database);
  for (const used of turns) store.add(used, 0);
  return { database, store };
}

describe("the tokens of people", () => {
  it("are summed by day, chat and person, and a report that comes twice counts once", () => {
    const { store } = createStore(
      turn("a"),
      turn("a"),
      turn("b", { chatId: "7" }),
      turn("c", { userId: "8" }),
      turn("d", { at: NOON + DAY_MS }),
    );
    expect(store.sum({})).toHaveLength(4);
    expect(store.sum({ by: ["person"] })).toEqual([
      { messengerId: "telegram", userId: "7", turns: 3, inputTokens: 300, outputTokens: 30, cost: 0.75 },
      { messengerId: "telegram", userId: "8", turns: 1, inputTokens: 100, outputTokens: 10, cost: 0.25 },
    ]);
    expect(store.sum({ by: ["day"] }).map(({ day, turns }) => [day, turns])).toEqual([
      ["2026-11-22", 3],
      ["2026-11-23", 1],
    ]);
    expect(store.sum({ by: ["chat"], userId: "7", until: NOON + 1 }).map(({ chatId }) => chatId)).toEqual([
      "-100",
      "7",
    ]);
    expect(store.sum({ by: [], since: NOON + 1 })).toMatchObject([{ turns: 1 }]);
  });

  it("are forgotten after their time", () => {
    const { store } = createStore(turn("a"));
    store.add(turn("b", { at: NOON + 2 * DAY_MS }), NOON + DAY_MS);
    expect(store.sum({ by: [] })).toMatchObject([{ turns: 1 }]);
  });

  it("limit what one person may ask within a day", () => {
    const { database, store } = createStore(turn("a"), turn("b", { userId: "8" }));
    const limits = new TurnLimits(database, store);
    const asks = (userId: string, at: number, tokensPerPersonPerDay = 110): boolean =>
      limits.take({
        messengerId: "telegram",
        userId,
        threadId: `telegram:${userId}`,
        at,
        albumId: undefined,
        burstMs: 0,
        limits: { tokensPerPersonPerDay },
      });
    expect(asks("7", NOON + 1)).toBe(false);
    expect(asks("7", NOON + 1, 111)).toBe(true);
    expect(asks("9", NOON + 1)).toBe(true);
    expect(asks("7", NOON + DAY_MS)).toBe(true);
  });

  it("cost what the model's prices say", () => {
    const prices = { big: { input: 3, output: 15 } };
    expect(costOf(prices, "big", { input: 1_000_000, output: 100_000 })).toBeCloseTo(4.5);
    expect(costOf(prices, "big", { input: undefined, output: undefined })).toBe(0);
    expect(costOf(prices, "constructor", { input: 5, output: 5 })).toBe(0);
  });
});
