import type { Simulator, VisibleMessage } from "../../playground/telegram/simulator.ts";
import { MARK } from "./judge.ts";
import { answerTo, cardsOf, filesOf } from "./pressers.ts";
import type { Presser } from "./pressers.ts";

/** Results for cards, files and presses, read from the chats and from the answers to presses alone. */
export interface CardJudgement {
  cards: number;
  files: number;
  presses: number;
  /** Cards and files that nobody sees. */
  missing: number;
  /** Cards and files that are visible twice without saying so. */
  twice: number;
  /** Presses whose button still shows progress. */
  unanswered: number;
  /** Presses that were answered with a count. The others were cut by a kill, and say so. */
  counted: number;
  /** Cards that show another count than the last one that was told, or more presses than were made. */
  miscounted: number;
  /** One sentence for each problem. */
  readonly problems: string[];
}

export function judgeCards(simulator: Simulator, pressers: readonly Presser[]): CardJudgement {
  const total: CardJudgement = {
    cards: 0,
    files: 0,
    presses: 0,
    missing: 0,
    twice: 0,
    unanswered: 0,
    counted: 0,
    miscounted: 0,
    problems: [],
  };
  for (const presser of pressers) {
    total.cards += presser.cards.length;
    total.files += presser.files.length;
    total.presses += presser.presses.length;
    for (const cue of presser.cards) {
      const shown = cardsOf(simulator, presser, cue);
      judgeShown(total, cue, shown);
      judgeCount(total, simulator, presser, cue, shown.at(-1));
    }
    for (const cue of presser.files) judgeShown(total, cue, filesOf(simulator, presser, cue));
  }
  return total;
}

function judgeShown(total: CardJudgement, cue: string, shown: readonly VisibleMessage[]): void {
  const unmarked = shown.filter(({ text }) => !text.startsWith(MARK));
  if (shown.length === 0) {
    total.missing += 1;
    total.problems.push(`${cue}: never shown`);
  }
  if (unmarked.length > 1) {
    total.twice += 1;
    total.problems.push(`${cue}: visible ${unmarked.length} times, unmarked`);
  }
}

/**
 * A press runs the bot's code at most once, so a card never shows more than its presses. A count that was told is on the
 * card or was followed by a higher one.
 */
function judgeCount(
  total: CardJudgement,
  simulator: Simulator,
  { presses }: Presser,
  cue: string,
  card: VisibleMessage | undefined,
): void {
  const own = presses.filter((press) => press.cue === cue);
  const answers = own.map(({ queryId }) => answerTo(simulator, queryId));
  total.unanswered += answers.filter((answer) => answer === undefined).length;
  const told = answers.flatMap((answer) => {
    const count = /^counted (\d+)$/.exec(answer ?? "")?.[1];
    return count === undefined ? [] : [Number(count)];
  });
  total.counted += told.length;
  if (card === undefined) return;
  const shown = Number(/pressed (\d+)/.exec(card.text)?.[1] ?? Number.NaN);
  const isRight = shown <= own.length && told.every((count) => count <= shown);
  if (isRight && new Set(told).size === told.length) return;
  total.miscounted += 1;
  total.problems.push(`${cue}: shows ${shown} of ${own.length} presses, and told ${told.join(", ")}`);
}
