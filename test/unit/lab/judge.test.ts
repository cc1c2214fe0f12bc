import { expect, it } from "vitest";
import type { SimChat, Simulator, VisibleMessage } from "../../../playground/telegram/simulator.ts";
import { judge, strays } from "../../../lab/chaos/judge.ts";
import type { Judgement } from "../../../lab/chaos/judge.ts";
import { wordsOf } from "../../../lab/chaos/writers.ts";

const FIRST = { cue: "q4c1n1", words: 4, askedAt: 0 };
const SECOND = { cue: "q4c1n2", words: 4, askedAt: 1 };
const GIVEN_UP = "Sorry, I couldn't finish this answer. Please ask again if you need the rest.";
const WRONG = new Set(["lost", "truncated", "duplicated", "outOfOrder", "misplaced", "unformatted"]);
const MARK = "(sent again after a connection problem)\n";

const text = (question: typeof FIRST, from = 0, to = question.words): string =>
  wordsOf(question).slice(from, to).join(" ");

/** A message of the bot in which the words 3 and 10 of an answer are bold, as they were said. */
function message(shown: string, id: number): VisibleMessage {
  const entities = [...shown.matchAll(/\bq\w+w(?:3|10)\b/g)].map(({ 0: word, index }) => ({
    type: "bold" as const,
    offset: index,
    length: word.length,
  }));
  return { id, chatId: 1, text: shown, entities, from: { isBot: true } } as unknown as VisibleMessage;
}

/** What the campaign says of a chat in which the bot shows these messages. */
function judged(...texts: readonly (string | VisibleMessage)[]): Partial<Judgement> {
  return judgedOf([FIRST, SECOND], texts);
}

function judgedOf(
  questions: readonly (typeof FIRST)[],
  texts: readonly (string | VisibleMessage)[],
): Partial<Judgement> {
  const simulator = {
    messages: () => texts.map((shown, id) => (typeof shown === "string" ? message(shown, id) : shown)),
  } as unknown as Simulator;
  const chat = { id: 1 } as SimChat;
  const {
    problems,
    shown,
    questions: asked,
    ...counts
  } = judge(simulator, {
    name: "Ada",
    chat,
    threadId: undefined,
    questions: [...questions],
    ask: () => {},
  });
  expect({ shown, asked }).toEqual({ shown: texts.length, asked: questions.length });
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  expect(problems.length > 0).toBe(found.some(([name]) => WRONG.has(name)));
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
  expect(judged(`${text(FIRST, 0, 2)}\n\n${GIVEN_UP}`, text(SECOND))).toEqual({
    interrupted: 1,
    apologies: 1,
  });
});

it("finds an answer that is cut beside an apology for another one", () => {
  const apology = "Sorry, something went wrong and I couldn't answer. Please try again in a moment.";
  expect(judged(text(FIRST, 0, 2), apology, text(SECOND))).toEqual({ truncated: 1, apologies: 1 });
  expect(judged(text(FIRST, 0, 2), `${text(SECOND, 0, 3)}\n\n${GIVEN_UP}`)).toEqual({
    truncated: 1,
    interrupted: 1,
    apologies: 1,
  });
});

it("finds words that are missing in the middle of an answer that was given up", () => {
  expect(judged(`${text(FIRST, 0, 1)} ${text(FIRST, 2, 3)}\n\n${GIVEN_UP}`, text(SECOND))).toEqual({
    truncated: 1,
    apologies: 1,
  });
});

it("finds what is twice behind the marked message of another answer, and within one message", () => {
  const again = `${MARK}${text(FIRST)}`;
  expect(judged(again, text(SECOND), text(SECOND))).toMatchObject({ marked: 1, duplicated: 1 });
  expect(judged(`${again} ${text(FIRST)}`, text(SECOND))).toMatchObject({ marked: 1, duplicated: 1 });
});

it("finds words that belong to somebody else, and answers without their formatting", () => {
  expect(judged(text(FIRST), text(SECOND), "q4c2n1w0")).toEqual({ misplaced: 1 });
  expect(judged({ ...message(text(FIRST), 1), entities: [] }, text(SECOND))).toEqual({ unformatted: 1 });
});

it("finds an answer beside the topics in which it was asked for", () => {
  const shown = [
    { ...message(text(FIRST), 1), threadId: 5 },
    message(text(SECOND), 2),
    message("Welcome!", 3),
  ] as VisibleMessage[];
  const simulator = {
    messages: (_chat: SimChat, { threadId }: { threadId?: number } = {}) =>
      shown.filter((one) => threadId === undefined || one.threadId === threadId),
  } as unknown as Simulator;
  const writer = {
    name: "topic",
    chat: { id: 1 } as SimChat,
    threadId: 5,
    questions: [FIRST],
    ask: () => {},
  };
  expect(strays(simulator, [writer]).map(({ id }) => id)).toEqual([2]);
});

it("reads no other word in the first letters of the word at which an answer was given up", () => {
  const long = { cue: "q14c1n1", words: 14, askedAt: 0 };
  const cut = `${text(long, 0, 12)} ${long.cue}w1\n\n${GIVEN_UP}`;
  expect(judgedOf([long, SECOND], [cut, text(SECOND)])).toEqual({ interrupted: 1, apologies: 1 });
  const twice = `${text(long, 0, 12)} ${long.cue}w1 ${text(long, 0, 2)}\n\n${GIVEN_UP}`;
  expect(judgedOf([long, SECOND], [twice, text(SECOND)])).toMatchObject({ duplicated: 1 });
});
