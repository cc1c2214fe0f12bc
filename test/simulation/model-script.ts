import type { Random } from "./random.ts";

/** One attempt of the model at an answer: how far it gets, and how it ends. */
export interface Attempt {
  /** The share of the text that comes before it fails; 1 for an attempt that does not. */
  readonly failsAt: number;
}

/** What the model says to one question, whatever the number of attempts it needs. */
export interface Script {
  readonly text: (attempt: number) => string;
  readonly attempts: readonly Attempt[];
  readonly chunkLength: number;
  readonly paceMs: number;
  readonly firstTokenMs: number;
}

/**
 * Every word of a script is unique in the whole run (`t3a1w17z`: turn, attempt, word), so that any text on the platform
 * tells whose it is, and twice the same word is a text that is visible twice.
 */
export function createScript(random: Random, turn: number, questions: readonly string[]): Script {
  const words = random.chance(0.04) ? 0 : random.pick([2, 5, 12, 20, 30, 45]);
  const style = random.fork("style");
  const fails = random.chance(0.12);
  const attempts: Attempt[] = fails
    ? [{ failsAt: random.pick([0, 0.3, 0.8]) }, { failsAt: random.chance(0.6) ? 1 : random.pick([0, 0.5]) }]
    : [{ failsAt: 1 }];
  const shapes = Array.from({ length: words }, () => style.int(0, 19));
  // A second attempt is often shorter than what the first has left visible.
  const lengths = [words, style.chance(0.5) ? Math.ceil(words * style.next()) : words];
  const text = (attempt: number): string => {
    const body = shapes
      .slice(0, lengths[attempt % 2])
      .map((shape, index) => shaped(`t${turn}a${attempt}w${index}z`, shape));
    return words === 0 ? "" : `re ${questions.join(" ")}\n\n${body.join("")}`;
  };
  return {
    text,
    attempts,
    chunkLength: random.pick([12, 30, 80]),
    paceMs: random.pick([5, 30, 120, 400, 900]),
    firstTokenMs: random.pick([5, 60, 400, 2_500]),
  };
}

function shaped(word: string, shape: number): string {
  switch (shape) {
    case 0:
    case 1:
      return `**${word}** `;
    case 2:
      return `_${word}_ `;
    case 3:
      return `\`${word}\` `;
    case 4:
      return `${word}\n\n`;
    case 5:
      return `\n\n- ${word}\n`;
    case 6:
      return `\n\n\`\`\`\n${word}\n\`\`\`\n\n`;
    case 7:
      return `${word}\n\n> `;
    default:
      return `${word} `;
  }
}
