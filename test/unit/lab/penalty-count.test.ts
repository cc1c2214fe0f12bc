import { expect, it } from "vitest";
import type { ApiCall } from "../../../playground/telegram/control/api-log.ts";
import { countCallsInPenalty } from "../../../lab/chaos/penalty-count.ts";

function call(at: number, retryAfter?: number, chatId = 1, method = "sendMessage"): ApiCall {
  return {
    number: at,
    at,
    method,
    chatId,
    payload: {},
    outcome: retryAfter === undefined ? "ok" : "error",
    processed: retryAfter === undefined,
    durationMs: 2,
    ...(retryAfter !== undefined && {
      errorCode: 429,
      description: `Too Many Requests: retry after ${retryAfter}`,
    }),
  };
}

const counted = (
  calls: readonly ApiCall[],
  ...killedAt: readonly number[]
): readonly [heard: number, unheard: number] => {
  const { callsInPenalty, callsInUnheardPenalty } = countCallsInPenalty(calls, killedAt);
  return [callsInPenalty, callsInUnheardPenalty];
};

it("counts calls in a penalty of their chat, and none before or behind it", () => {
  expect(counted([call(0), call(10, 5), call(11), call(5_012)])).toEqual([0, 0]);
  expect(counted([call(10, 5), call(3_000)])).toEqual([1, 0]);
  expect(counted([call(10, 5), call(3_000, undefined, 2)])).toEqual([0, 0]);
});

it("counts a call in a long penalty although a shorter one has come and gone since", () => {
  expect(counted([call(10, 6), call(11, 1), call(3_000)])).toEqual([1, 0]);
});

it("counts a call apart when the bot was killed as it was told", () => {
  expect(counted([call(10, 5), call(3_000)], 100)).toEqual([0, 1]);
  expect(counted([call(10, 5), call(3_000)], 1_000)).toEqual([1, 0]);
});

it("counts a call in a penalty that was heard of beside one that was not", () => {
  expect(counted([call(10, 9), call(1_000, 1), call(1_500), call(3_000)], 100)).toEqual([1, 2]);
});

it("does not count the answer to a press, which the platform does not count as a call to the chat", () => {
  expect(counted([call(10, 5), call(3_000, undefined, 1, "answerCallbackQuery")])).toEqual([0, 0]);
});
