/**
 * `npm run lost-posts`: how long it takes until an answer is visible after the platform's answer to its post was lost.
 * Telegram's limits, a virtual clock, seeded: the same code prints the same table everywhere.
 */
import { readOptions } from "../scripts/command-line/read-options.ts";
import { CHAT_KINDS, LOSSES, lostPostTime } from "./unit/delivery/lost-post-times.ts";

const values = readOptions("npm run lost-posts", {
  runs: { type: "string", default: "40", about: "how many runs of each kind" },
});
const runs = Number(values.runs);
if (!Number.isSafeInteger(runs) || runs < 1) throw new TypeError("--runs is a whole number above 0.");

process.stdout.write(`seconds until the answer is visible, p50 / p95, ${runs} runs each\n`);
process.stdout.write(row("", LOSSES));
for (const chat of CHAT_KINDS) {
  for (const isMade of [true, false]) {
    const cells: string[] = [];
    for (const loss of LOSSES) {
      const times: number[] = [];
      for (let seed = 1; seed <= runs; seed += 1)
        times.push(await lostPostTime({ chat, loss, isMade }, seed));
      times.sort((left, right) => left - right);
      cells.push(`${secondsAt(times, 0.5)} / ${secondsAt(times, 0.95)}`);
    }
    process.stdout.write(row(`${chat}, ${isMade ? "made" : "not made"}`, cells));
  }
}

function secondsAt(sorted: readonly number[], share: number): string {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return ((sorted[index] ?? 0) / 1_000).toFixed(1);
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(26)}${cells.map((cell) => cell.padStart(14)).join("")}\n`;
}
