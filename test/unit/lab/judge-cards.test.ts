import { describe, expect, it } from "vitest";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { judgeCards } from "../../../lab/chaos/judge-cards.ts";
import type { CardJudgement } from "../../../lab/chaos/judge-cards.ts";
import { MARK } from "../../../lab/chaos/judge.ts";

/** What the campaign says of a chat with one card and one file. `answers` are those to two presses of the card. */
function judged(
  texts: readonly string[],
  files: readonly string[],
  answers: readonly (string | undefined)[],
): Partial<CardJudgement> {
  const shown = [
    ...texts.map((text) => ({ text, attachments: [] })),
    ...files.map((text) => ({ text, attachments: [{ fileName: "f1.txt" }] })),
  ];
  const simulator = {
    messages: () => shown.map((message, id) => ({ ...message, id, from: { isBot: true } })),
    callbackAnswers: () =>
      answers.map((text, at) => ({
        queryId: `q${at}`,
        ...(text !== undefined && { answeredAt: 1, text }),
      })),
  } as unknown as Simulator;
  const chat = { id: 1 } as SimChat;
  const presses = answers.map((_, at) => ({ cue: "c1", queryId: `q${at}` }));
  const presser = { name: "Pia", chat, userId: 1, threadId: undefined, mention: "" };
  const all = judgeCards(simulator, [{ ...presser, cards: ["c1"], files: ["f1"], presses }]);
  const { missing, miscounted, twice, unanswered } = all;
  return Object.fromEntries(
    Object.entries({ missing, miscounted, twice, unanswered }).filter(([, count]) => count > 0),
  );
}

const RIGHT = ["counted 1", "counted 2"];
const SORRY = "Sorry, that did not work.";

describe("the campaign says of cards, files and presses", () => {
  it.each([
    ["nothing when all is right", ["card c1, pressed 2"], [""], RIGHT, {}],
    ["nothing when a kill cut a press", ["card c1, pressed 1"], [""], ["counted 1", SORRY], {}],
    [
      "nothing when a message says that it was sent again",
      ["card c1, pressed 0", `${MARK} card c1, pressed 2`],
      [""],
      RIGHT,
      {},
    ],
    ["that a card is missing", [], [""], RIGHT, { missing: 1 }],
    ["that a file is missing", ["card c1, pressed 2"], [], RIGHT, { missing: 1 }],
    ["that a card is there twice", ["card c1, pressed 0", "card c1, pressed 2"], [""], RIGHT, { twice: 1 }],
    ["that a file is there twice", ["card c1, pressed 2"], ["", ""], RIGHT, { twice: 1 }],
    ["that a press has no answer", ["card c1, pressed 1"], [""], ["counted 1", undefined], { unanswered: 1 }],
    ["that a press ran twice", ["card c1, pressed 3"], [""], ["counted 1", "counted 3"], { miscounted: 1 }],
    ["that a card went backwards", ["card c1, pressed 1"], [""], RIGHT, { miscounted: 1 }],
    ["that two presses are one", ["card c1, pressed 2"], [""], ["counted 2", "counted 2"], { miscounted: 1 }],
  ])("%s", (_title, texts, files, answers, expected) => {
    expect(judged(texts, files, answers)).toEqual(expected);
  });
});
