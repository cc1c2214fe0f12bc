import { lastUserText, type ModelScript } from "../support/scripted-model.ts";
import { say, type ModelStep } from "../support/model-script.ts";

/**
 * Times at which the last token of a reply was given to the network, by the key of its question, in epoch milliseconds.
 */
export const lastTokenTimes = new Map<string, number>();

/** A token of the benchmark: five characters. */
const TOKEN_LENGTH = 5;
const END = "DONE";

/** Returns the question that asks for a reply of `tokens`, `paceMs` apart; 0 sends all at once. */
export function ask(tokens: number, paceMs: number): string {
  return `reply ${tokens} ${paceMs}`;
}

/** Streams the reply that the question asks for: `reply <tokens> <paceMs> #<key>`. */
export const replyScript: ModelScript = (request) => {
  const [, tokens, paceMs, key] = /reply (\d+) (\d+) #(\S+)/.exec(lastUserText(request)) ?? [];
  const text = replyText(Number(tokens ?? 1));
  const done: ModelStep = {
    kind: "gate",
    gate: {
      reached: Promise.resolve(),
      opened: Promise.resolve(),
      open: () => {},
      pass: () => {
        lastTokenTimes.set(key ?? "", Date.now());
        return Promise.resolve();
      },
    },
  };
  return [
    say(text.slice(0, -TOKEN_LENGTH), { chunkSize: TOKEN_LENGTH, paceMs: Number(paceMs ?? 0) }),
    say(text.slice(-TOKEN_LENGTH), { chunkSize: TOKEN_LENGTH }),
    done,
  ];
};

/** Words of four letters, in paragraphs of forty words; ends with the mark. */
export function replyText(tokens: number): string {
  let text = "";
  for (let index = 0; index < tokens - 1; index += 1) {
    const word = String.fromCharCode(...[0, 1, 2].map((digit) => 97 + ((index * 7 + digit * 11) % 26)));
    text += index % 40 === 39 ? `${word}.\n\n` : `${word}a `;
  }
  return `${text} ${END}`;
}
