import type { Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";
import { isBold, wordsOf } from "./writers.ts";
import type { Question, Writer } from "./writers.ts";

/** Results for one writer, read from the chat alone. Each number counts the questions or messages with that result. */
export interface Judgement {
  questions: number;
  /** Visible messages of the bot. */
  shown: number;
  /** Answers without a single visible word. */
  lost: number;
  /** Answers of which only some words are visible. */
  truncated: number;
  /** Answers with words that are visible twice, in messages that do not say that they were sent again. */
  duplicated: number;
  /** Messages that say that they were sent again. */
  marked: number;
  /** First copies that stayed visible beside a message that was sent again. */
  leftovers: number;
  /** Such copies that are below that message, because they landed later. */
  leftoversBelow: number;
  outOfOrder: number;
  /** Messages of the bot with words that do not belong to any question in this place. */
  misplaced: number;
  /** Answers with words that have lost their formatting. */
  unformatted: number;
  /** Answers that the turn engine gave up after too many kills, with a text that says so. */
  interrupted: number;
  /** Messages with one of the texts that people read when something went wrong. */
  apologies: number;
  /** One sentence for each problem. */
  readonly problems: string[];
}

/** The beginning of a message that was sent again. */
export const MARK = "(sent again after a connection problem)";
const GIVEN_UP = "Sorry, I couldn't finish this answer.";
const APOLOGY = /^Sorry,|\n\nSorry,/;
const WORD = /\bq\d+c\d+n\d+w\d+\b/g;
const ANY_WORD = new RegExp(WORD.source);

/** Messages, by index, that have words of a message that was sent again. */
interface Leftovers {
  readonly all: Set<number>;
  readonly below: Set<number>;
}

interface Place {
  readonly message: number;
  readonly at: number;
}

export function judge(simulator: Simulator, writer: Writer): Judgement {
  const messages = botMessages(simulator, writer).map(withoutCutWord);
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
    misplaced: 0,
    unformatted: 0,
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
  judgeStrangers(writer, messages, judgement);
  judgement.leftovers = leftovers.all.size;
  judgement.leftoversBelow = leftovers.below.size;
  return judgement;
}

/** True if every word of a question's answer is visible. */
export function isAnswered(simulator: Simulator, writer: Writer, question: Question): boolean {
  // Asked many times a second, so messages about other questions are not read.
  const about = botMessages(simulator, writer).filter(({ text }) => text.includes(question.cue));
  const shown = new Set(about.flatMap(({ text }) => text.match(WORD) ?? []));
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
  if (found.length < words.length && isGivenUp(found, words, messages, places)) {
    judgement.interrupted += 1;
  } else if (found.length < words.length) {
    judgement.truncated += 1;
    judgement.problems.push(`${question.cue}: ${found.length} of ${words.length} words`);
  }
  let isTwice = false;
  let isDisordered = false;
  let isPlain = false;
  let last = before;
  for (const word of found) {
    const all = places.get(word) ?? [];
    const place = keptPlace(all, messages);
    const twin = isMarked(messages[place.message]) ? place.message : place.message - 1;
    for (const other of all) {
      if (other === place) continue;
      // Two copies of a word in one message are never a leftover. Nor is a message without any word of the marked one.
      if (other.message === place.message || !isLeftoverOf(other.message, twin, messages)) isTwice = true;
      if (other.message === place.message) continue;
      leftovers.all.add(other.message);
      if (other.message > place.message) leftovers.below.add(other.message);
    }
    if (place.message < last.message || (place.message === last.message && place.at < last.at))
      isDisordered = true;
    if (isBold(words.indexOf(word)) && !isShownBold(place, messages)) isPlain = true;
    last = place;
  }
  if (isTwice) {
    judgement.duplicated += 1;
    judgement.problems.push(`${question.cue}: visible twice, unmarked`);
  }
  if (isPlain) {
    judgement.unformatted += 1;
    judgement.problems.push(`${question.cue}: without its formatting`);
  }
  if (isDisordered) {
    judgement.outOfOrder += 1;
    judgement.problems.push(`${question.cue}: out of order`);
  }
  return last;
}

/**
 * True if an incomplete answer was given up: only its end is missing, and the next text that a person reads says so.
 */
function isGivenUp(
  found: readonly string[],
  words: readonly string[],
  messages: readonly VisibleMessage[],
  places: ReadonlyMap<string, readonly Place[]>,
): boolean {
  if (found.some((word, index) => word !== words[index])) return false;
  const end = places.get(found.at(-1) ?? "")?.at(-1);
  if (end === undefined) return false;
  const rest = (messages[end.message]?.text ?? "").slice(end.at + (found.at(-1) ?? "").length);
  const next = rest.includes(GIVEN_UP) ? rest : `${rest}${messages[end.message + 1]?.text ?? ""}`;
  return next.includes(GIVEN_UP) && next.slice(0, next.indexOf(GIVEN_UP)).match(WORD) === null;
}

/**
 * Chooses the copy of a word that counts. If a message was sent again, that one counts and the first copy is a
 * leftover.
 *
 * The first copy may also contain words that the final cut moved to the message after the marked one.
 */
function keptPlace(all: readonly Place[], messages: readonly VisibleMessage[]): Place {
  const nowhere: Place = { message: -1, at: -1 };
  return (
    all.findLast(({ message }) => isMarked(messages[message])) ??
    all.findLast(({ message }) => isMarked(messages[message - 1])) ??
    all.at(-1) ??
    nowhere
  );
}

/**
 * Blanks the last word before the text that an answer was given up, if it is the beginning of the word that follows.
 * Its letters may be those of an earlier word: `w14` of `w145`.
 */
function withoutCutWord(message: VisibleMessage): VisibleMessage {
  const { text } = message;
  const end = text.indexOf(`\n\n${GIVEN_UP}`);
  if (end < 0) return message;
  const [before, last] = [...text.slice(0, end).matchAll(WORD)].slice(-2);
  if (before === undefined || last === undefined || last.index + last[0].length !== end) return message;
  const next = before[0].replace(/\d+$/, (index) => String(Number(index) + 1));
  if (last[0] === next || !next.startsWith(last[0])) return message;
  return { ...message, text: text.slice(0, last.index).padEnd(end) + text.slice(end) };
}

/** True if a marked message may be a second copy of this one: they share words. */
function isLeftoverOf(message: number, marked: number, messages: readonly VisibleMessage[]): boolean {
  if (!isMarked(messages[marked])) return false;
  const words = new Set(messages[marked]?.text.match(WORD));
  return (messages[message]?.text.match(WORD) ?? []).some((word) => words.has(word));
}

function isShownBold({ message, at }: Place, messages: readonly VisibleMessage[]): boolean {
  const entities = messages[message]?.entities ?? [];
  return entities.some(({ type, offset, length }) => type === "bold" && offset <= at && at < offset + length);
}

/** Counts messages with words of answers to other writers. */
function judgeStrangers(writer: Writer, messages: readonly VisibleMessage[], judgement: Judgement): void {
  const asked = new Set(writer.questions.flatMap(wordsOf));
  for (const { id, text } of messages) {
    const stranger = text.match(WORD)?.find((word) => !asked.has(word));
    if (stranger === undefined) continue;
    judgement.misplaced += 1;
    judgement.problems.push(`message ${id} says ${stranger}, a word of an answer to someone else`);
  }
}

/** Returns messages with words of answers in places that no writer reads, such as a forum outside its topics. */
export function strays(simulator: Simulator, writers: readonly Writer[]): readonly VisibleMessage[] {
  const read = new Set(
    writers.flatMap((writer) => botMessages(simulator, writer).map(({ chatId, id }) => `${chatId}:${id}`)),
  );
  const chats = new Map(writers.map(({ chat }) => [chat.id, chat]));
  return [...chats.values()].flatMap((chat) =>
    simulator
      .messages(chat)
      .filter(
        ({ chatId, from, id, text }) => from.isBot && !read.has(`${chatId}:${id}`) && ANY_WORD.test(text),
      ),
  );
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
