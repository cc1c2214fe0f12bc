import type { Random } from "../../support/random.ts";

/** One attempt of the model at an answer: its length and its end. */
export interface Attempt {
  /** Share of the text before the failure; 1 if the attempt succeeds. */
  readonly failsAt: number;
}

/** A tool that the model calls between two steps. `effect`: it must not run twice. `action`: one of the bot's actions. */
export type ScriptedTool = "effect" | "lookup" | "action";

/** The model's answer to one question, for any number of attempts. */
export interface Script {
  /** Returns the text of one step. */
  readonly text: (step: number, attempt: number) => string;
  /** Tools that it calls after each step except the last. */
  readonly tools: readonly ScriptedTool[];
  readonly attempts: readonly Attempt[];
  readonly chunkLength: number;
  readonly paceMs: number;
  readonly firstTokenMs: number;
}

/** Abilities of a run's model. */
export interface ScriptOptions {
  /** Blocks that rich messages show better than ordinary ones. */
  readonly isRich: boolean;
  readonly hasTools: boolean;
  /** Whether the model may choose silence. */
  readonly maySayNothing: boolean;
  /** Whether the answer calls an action. */
  readonly callsAction: boolean;
}

/**
 * Every word of a script is unique in the whole run (`t3a1w17z`: turn, attempt, word), so any text on the platform
 * shows its turn, and a repeated word is a text that is visible twice. The words of a second step begin at 100.
 */
export function createScript(
  random: Random,
  turn: number,
  questions: readonly string[],
  options: ScriptOptions,
): Script {
  const words = random.chance(0.04) ? 0 : random.pick([2, 5, 12, 20, 30, 45]);
  const style = random.fork("style");
  const fails = random.chance(0.12);
  const attempts: Attempt[] = fails
    ? [{ failsAt: random.pick([0, 0.3, 0.8]) }, { failsAt: random.chance(0.6) ? 1 : random.pick([0, 0.5]) }]
    : [{ failsAt: 1 }];
  const shapes = Array.from({ length: words }, () => style.int(0, 19));
  // A second attempt is often shorter than what the first has left visible.
  const lengths = [words, style.chance(0.5) ? Math.ceil(words * style.next()) : words];
  const blocks = random.fork("blocks");
  const blockShapes = shapes.map((shape) =>
    options.isRich && blocks.chance(0.2) ? blocks.int(20, 22) : shape,
  );
  const manner = random.fork("manner");
  const tools = options.hasTools && manner.chance(0.6) ? drawTools(manner) : [];
  const isSilent = options.maySayNothing && manner.chance(0.3) && !options.callsAction;
  const text = (step: number, attempt: number): string => {
    if (isSilent) return SILENCE;
    const body = blockShapes
      .slice(0, lengths[attempt % 2])
      .map((shape, index) => shaped(`t${turn}a${attempt}w${step * STEP + index}z`, shape));
    if (words === 0) return "";
    return step > 0 ? body.join("") : `re ${questions.join(" ")}\n\n${body.join("")}`;
  };
  return {
    text,
    tools: isSilent ? [] : options.callsAction ? ["action"] : tools,
    attempts,
    chunkLength: isSilent ? manner.pick([1, 3, 7, 80]) : random.pick([12, 30, 80]),
    paceMs: random.pick([5, 30, 120, 400, 900]),
    firstTokenMs: random.pick([5, 60, 400, 2_500]),
  };
}

/** The model's signal for silence. */
export const SILENCE = "[[silence]]";
const STEP = 100;

function drawTools(random: Random): readonly ScriptedTool[] {
  return Array.from({ length: random.int(1, 2) }, () => random.pick<ScriptedTool>(["effect", "lookup"]));
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
    case 20:
      return `\n\n## ${word}\n\n`;
    case 21:
      return `\n\n1. ${word}\n`;
    case 22:
      return `\n\n| ${word} |\n|---|\n| cell |\n\n`;
    default:
      return `${word} `;
  }
}
