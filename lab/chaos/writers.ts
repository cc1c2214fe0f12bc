import type { SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { say } from "../support/model-script.ts";
import type { ModelStep } from "../support/model-script.ts";

/** A question of one person, and the words that the answer must have. */
export interface Question {
  readonly cue: string;
  readonly words: number;
  readonly askedAt: number;
}

/** A place in which one person keeps writing. */
export interface Writer {
  readonly name: string;
  readonly chat: SimChat;
  readonly threadId: number | undefined;
  readonly questions: Question[];
  /** Writes the next question, sometimes followed at once by a second one. */
  ask(): void;
}

const CUE = /\bq(\d+)c\d+n\d+\b/g;
/** Words of an answer. Most answers are short; some need several messages. */
const LENGTHS = [8, 20, 40, 60, 120, 250, 700];

/** Returns the words of the answer to a question, in order. Each is unique in the whole campaign. */
export function wordsOf({ cue, words }: Pick<Question, "cue" | "words">): readonly string[] {
  return Array.from({ length: words }, (_, index) => `${cue}w${index}`);
}

/** True if the word at this position of an answer is bold. */
export function isBold(index: number): boolean {
  return index % 7 === 3;
}

/** Returns the model's answer to every question in the text, as a stream. */
export function answerTo(text: string, random: () => number): readonly ModelStep[] {
  const paragraphs = [...text.matchAll(CUE)].map(([cue, words]) => {
    const shaped = wordsOf({ cue, words: Number(words) }).map((word, index) =>
      isBold(index) ? `**${word}**` : word,
    );
    return shaped.map((word, index) => (index % 25 === 24 ? `${word}\n\n` : `${word} `)).join("");
  });
  const answer = paragraphs.join("\n\n");
  // A stream lasts up to two seconds, so that some streams end between two kills.
  const chunkSize = Math.max(20, Math.ceil(answer.length / 30));
  return [say(answer === "" ? "Noted." : answer, { chunkSize, paceMs: 10 + Math.floor(random() * 60) })];
}

export function createWriters(simulator: Simulator, random: () => number): readonly Writer[] {
  const pick = (): number => LENGTHS[Math.floor(random() * LENGTHS.length)] ?? 20;
  const create = (
    number: number,
    name: string,
    chat: SimChat,
    user: { id: number },
    options: {
      readonly threadId?: number;
      readonly mention: string;
    },
  ): Writer => {
    const questions: Question[] = [];
    const write = (): void => {
      const words = pick();
      const cue = `q${words}c${number}n${questions.length}`;
      questions.push({ cue, words, askedAt: Date.now() });
      const text = `${options.mention}${cue}`;
      if (options.threadId === undefined) simulator.sendText(chat, user, text);
      else simulator.sendText(chat, user, text, { threadId: options.threadId });
    };
    const ask = (): void => {
      write();
      if (random() < 0.15) write();
    };
    return { name, chat, threadId: options.threadId, questions, ask };
  };
  const writers: Writer[] = [];
  for (const name of ["Ada", "Bob", "Cleo", "Dan"]) {
    const user = simulator.addUser({ first_name: name });
    writers.push(create(writers.length, name, simulator.privateChat(user), user, { mention: "" }));
  }
  const members = ["Eve", "Finn"].map((name) => simulator.addUser({ first_name: name }));
  const [eve, finn] = members;
  if (eve === undefined || finn === undefined) throw new Error("The group has no members.");
  const mention = `@${simulator.bot.username ?? ""} `;
  const group = simulator.addGroup({ title: "Group", type: "group", members });
  writers.push(create(writers.length, "group", group, eve, { mention }));
  const gina = simulator.addUser({ first_name: "Gina" });
  const crew = simulator.addGroup({ title: "By person", members: [gina] });
  writers.push(create(writers.length, "by person", crew, gina, { mention }));
  const forum = simulator.addGroup({ title: "Forum", forum: true, members });
  for (const topic of ["North", "South"]) {
    const threadId = simulator.addTopic(forum, topic);
    writers.push(create(writers.length, `topic ${topic}`, forum, finn, { mention, threadId }));
  }
  return writers;
}
