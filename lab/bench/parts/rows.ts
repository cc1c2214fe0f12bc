import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { ask } from "../reply-script.ts";
import { median } from "../statistics.ts";
import type { RowsWritten } from "../rows-written.ts";
import type { Part } from "./context.ts";

const TOKENS = 300;
const PACE_MS = 25;
const SETTLE_MS = 6_000;

/** Rows that SQLite reports as written, in all objects, from the webhook until no work is left. */
export const rowsPart: Part = async ({ report, bots, rounds }) => {
  await withContenders(
    bots,
    async (contenders) => {
      for (const contender of contenders) {
        const first: RowsWritten[] = [];
        const second: RowsWritten[] = [];
        await rowsOf(contender, contender.freshChat(), 5, 0);
        for (let round = 0; round < Math.min(rounds, 2); round += 1) {
          const chat = contender.freshChat();
          first.push(await rowsOf(contender, chat, TOKENS, PACE_MS));
          second.push(await rowsOf(contender, chat, TOKENS, PACE_MS));
        }
        const add = (metric: string, taken: RowsWritten[]): void => {
          report.add(
            "rows",
            `rows written, ${metric}`,
            "",
            contender.name,
            median(taken.map(({ rows }) => rows)),
          );
          report.add(
            "rows",
            `alarms set, ${metric}`,
            "",
            contender.name,
            median(taken.map(({ alarms }) => alarms)),
          );
        };
        add("300 tokens in a new chat", first);
        add("300 tokens in a known chat", second);
      }
    },
    { countsRows: true },
  );
};

async function rowsOf(
  contender: Contender,
  chat: ReturnType<Contender["freshChat"]>,
  tokens: number,
  paceMs: number,
): Promise<RowsWritten> {
  await takeRows(contender);
  await contender.ask(chat, ask(tokens, paceMs));
  await delay(SETTLE_MS);
  return takeRows(contender);
}

async function takeRows(contender: Contender): Promise<RowsWritten> {
  const response = await fetch(`${contender.bot.url}/bench/rows`);
  return (await response.json()) as RowsWritten;
}
