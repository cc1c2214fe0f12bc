import type { Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";
import { wordsOf } from "./writers.ts";
import type { Question, Writer } from "./writers.ts";

/** What became of the questions of one writer, read from the chat alone. */
export interface Judgement {
  questions: number;
  /** Messages that the bot shows. */
  shown: number;
  /** No word of the answer is there. */
  lost: number;
  /** Some words are there, and some are not. */
  truncated: number;
  /** Answers of which words are visible twice, in messages that do not say so. */
  duplicated: number;
  /** Messages that say that they were sent again. */
  marked: number;
  /** Drafts that stayed visible beside a marked message. */
  leftovers: number;
  /** Those of them that stand below it, because they landed later. */
  leftoversBelow: number;
  outOfOrder: number;
  /** Answers that the turn engine gave up after too many kills, and says so. */
  interrupted: number;
  /** Texts of the list that a person reads when something went wrong. */
  apologies: number;
  /** What is wrong, in words. */
  readonly problems: string[];
}

const MARK = "(sent again after a connection problem)";
const APOLOGY = /^Sorry,|\n\nSorry,/;
const WORD = /\bq\d+c\d+n\d+w\d+\b/g;

/** Messages that hold words of a marked one. */
interface Leftovers {
  readonly all: Set<number>;
  readonly below: Set<number>;
}

interface Place {
  readonly message: number;
  readonly at: number;
}

export function judge(simulator: Simulator, writer: Writer): Judgement {
  const messages = botMessages(simulator, writer);
  const judgement: Judgement = {
    questions: writer.questions.length,
    shown: messages.length,
    lost: 0,
    truncated: 0,
    duplicated: 0,
    marked: messages.filter(isMarked).length,
    leftovers: 0,
    leftoversBelow: 0,
    outOfOrder: 0,
    interrupted: 0,
    apologies: messages.filter(({ text }) => APOLOGY.test(text)).length,
    problems: [],
  };
  const places = placesOf(messages);
  const leftovers: Leftovers = { all: new Set(), below: new Set() };
  let last: Place = { message: -1, at: -1 };
  for (const question of writer.questions) {
    last = judgeQuestion(question, messages, places, last, judgement, leftovers);
  }
  judgement.leftovers = leftovers.all.size;
  judgement.leftoversBelow = leftovers.below.size;
  return judgement;
}

/** Whether every word of a question's answer is visible. */
export function isAnswered(simulator: Simulator, writer: Writer, question: Question): boolean {
  const shown = new Set(botMessages(simulator, writer).flatMap(({ text }) => text.match(WORD) ?? []));
  return wordsOf(question).every((word) => shown.has(word));
}

export function botMessages(simulator: Simulator, { chat, threadId }: Writer): readonly VisibleMessage[] {
  return simulator
    .messages(chat, threadId === undefined ? {} : { threadId })
    .filter(({ from }) => from.isBot);
}

function judgeQuestion(
  question: Question,
  messages: readonly VisibleMessage[],
  places: ReadonlyMap<string, readonly Place[]>,
  before: Place,
  judgement: Judgement,
  leftovers: Leftovers,
): Place {
  const words = wordsOf(question);
  const found = words.filter((word) => places.has(word));
  if (found.length === 0) {
    judgement.lost += 1;
    judgement.problems.push(`${question.cue}: no answer`);
    return before;
  }
  const lastFound = places.get(found.at(-1) ?? "")?.at(-1)?.message ?? 0;
  const saysSo = [messages[lastFound], messages[lastFound + 1]].some(
    (message) => message !== undefined && APOLOGY.test(message.text),
  );
  if (found.length < words.length && saysSo) {
    judgement.interrupted += 1;
  } else if (found.length < words.length) {
    judgement.truncated += 1;
    judgement.problems.push(`${question.cue}: ${found.length} of ${words.length} words`);
  }
  let isTwice = false;
  let isDisordered = false;
  let last = before;
  for (const word of found) {
    const all = places.get(word) ?? [];
    // Of a draft and its marked twin the twin counts; the draft is what is left over. It may hold words that the final
    // cut gave to the message behind the marked one.
    const marked =
      all.findLast(({ message }) => isMarked(messages[message])) ??
      all.findLast(({ message }) => isMarked(messages[message - 1]));
    const place = marked ?? all.at(-1) ?? last;
    if (all.length > 1 && marked === undefined) isTwice = true;
    for (const { message } of all) {
      if (message === place.message) continue;
      leftovers.all.add(message);
      if (message > place.message) leftovers.below.add(message);
    }
    if (place.message < last.message || (place.message === last.message && place.at < last.at))
      isDisordered = true;
    last = place;
  }
  if (isTwice) {
    judgement.duplicated += 1;
    judgement.problems.push(`${question.cue}: visible twice, unmarked`);
  }
  if (isDisordered) {
    judgement.outOfOrder += 1;
    judgement.problems.push(`${question.cue}: out of order`);
  }
  return last;
}

function isMarked(message: VisibleMessage | undefined): boolean {
  return message?.text.startsWith(MARK) === true;
}

function placesOf(messages: readonly VisibleMessage[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const [message, { text }] of messages.entries()) {
    for (const match of text.matchAll(WORD)) {
      const known = places.get(match[0]) ?? [];
      known.push({ message, at: match.index });
      places.set(match[0], known);
    }
  }
  return places;
}
