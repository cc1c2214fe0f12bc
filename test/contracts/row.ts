import { Impossible, type Stage } from "./stage.ts";

/**
 * One thing that people expect of a bot.
 *
 * `play` does as people do and waits for what they see. Then all rows of the stage wait until the bot has nothing left
 * to do, and `judge`, which `play` returns, says in a word or two what people got: `works`, or what is wrong.
 */
export interface Row {
  readonly key: string;
  /** Name of the row in the documents. */
  readonly title: string;
  readonly play: (stage: Stage) => Promise<Judge>;
}

export type Judge = () => string | Promise<string>;

/** The outcome of a row that a platform has no way to play. */
export const IMPOSSIBLE = "impossible";

/** Plays rows at the same time. Returns the outcome of each by its key. */
export async function playTogether(stage: Stage, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const judges = await Promise.all(rows.map(async (row) => [row.key, await judgeOf(stage, row)] as const));
  await stage.rest();
  return new Map(await Promise.all(judges.map(async ([key, judge]) => [key, await judge()] as const)));
}

/** Longest wait for the end of a row's work before the next row. */
const REST_MS = 300;

/** Plays rows one after another, each until the bot has nothing left to do. */
export async function playInTurn(stage: Stage, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const outcomes = new Map<string, string>();
  for (const row of rows) {
    const judge = await judgeOf(stage, row);
    await stage.rest(REST_MS);
    outcomes.set(row.key, await judge());
  }
  return outcomes;
}

async function judgeOf(stage: Stage, row: Row): Promise<Judge> {
  try {
    return await row.play(stage);
  } catch (error) {
    if (error instanceof Impossible) return () => IMPOSSIBLE;
    return () => `error: ${error instanceof Error ? error.message : String(error)}`;
  }
}
