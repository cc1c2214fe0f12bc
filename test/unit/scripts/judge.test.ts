import { expect, it } from "vitest";
import type { SimChat, Simulator, VisibleMessage } from "../../../playground/telegram/simulator.ts";
import { judge } from "../../../scripts/chaos/judge.ts";
import type { Judgement } from "../../../scripts/chaos/judge.ts";
import { wordsOf } from "../../../scripts/chaos/writers.ts";

const FIRST = { cue: "q4c1n1", words: 4, askedAt: 0 };
const SECOND = { cue: "q4c1n2", words: 4, askedAt: 1 };
const MARK = "(sent again after a connection problem)\n";

const text = (question: typeof FIRST, from = 0, to = question.words): string =>
  wordsOf(question).slice(from, to).join(" ");

/** What the campaign says of a chat in which the bot shows these messages. */
function judged(...texts: readonly string[]): Partial<Judgement> {
  const simulator = {
    messages: () => texts.map((shown) => ({ text: shown, from: { isBot: true } }) as VisibleMessage),
  } as unknown as Simulator;
  const chat = { id: 1 } as SimChat;
  const questions = [FIRST, SECOND];
  const {
    problems,
    shown,
    questions: asked,
    ...counts
  } = judge(simulator, {
    name: "Ada",
    chat,
    threadId: undefined,
    questions,
    ask: () => {},
  });
  expect({ shown, asked }).toEqual({ shown: texts.length, asked: 2 });
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  expect(problems.length > 0).toBe(
    found.some(([name]) => ["lost", "truncated", "duplicated", "outOfOrder"].includes(name)),
  );
  return Object.fromEntries(found);
}

it("finds nothing where every answer is there once, whole and in order", () => {
  expect(judged(text(FIRST), text(SECOND))).toEqual({});
  expect(judged(`${text(FIRST)}\n\n${text(SECOND)}`)).toEqual({});
  expect(judged(text(FIRST, 0, 2), text(FIRST, 2), text(SECOND))).toEqual({});
});

it("finds what is lost, cut, twice or out of order", () => {
  expect(judged(text(FIRST))).toEqual({ lost: 1 });
  expect(judged(text(FIRST), text(SECOND, 0, 3))).toEqual({ truncated: 1 });
  expect(judged(text(FIRST), text(FIRST), text(SECOND))).toEqual({
    duplicated: 1,
    leftovers: 1,
  });
  expect(judged(text(SECOND), text(FIRST))).toEqual({ outOfOrder: 1 });
  expect(judged(text(FIRST, 2), text(FIRST, 0, 2), text(SECOND))).toEqual({ outOfOrder: 1 });
});

it("counts a draft beside its marked twin apart, and apart again where it landed below it", () => {
  const again = `${MARK}${text(FIRST)}`;
  expect(judged(text(FIRST, 0, 2), again, text(SECOND))).toEqual({ marked: 1, leftovers: 1 });
  expect(judged(again, text(FIRST, 0, 2), text(SECOND))).toEqual({
    marked: 1,
    leftovers: 1,
    leftoversBelow: 1,
  });
  // The mark takes room, so that the last word of the draft went on to the next message.
  expect(judged(text(FIRST, 0, 3), `${MARK}${text(FIRST, 0, 2)}`, text(FIRST, 2), text(SECOND))).toEqual({
    marked: 1,
    leftovers: 1,
  });
});

it("counts an answer that says that it was given up as no truncated one", () => {
  expect(judged(`${text(FIRST, 0, 2)}\n\nSorry, this answer broke off.`, text(SECOND))).toEqual({
    interrupted: 1,
    apologies: 1,
  });
});
