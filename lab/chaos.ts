/**
 * `npm run chaos -- --kills 200`: tests the served bot under faults while people write in several chats.
 *
 * Some of them press buttons and ask for files. It kills the bot's whole process group with SIGKILL at random moments, and injects penalties, cut connections, server
 * errors and slow answers. It prints a table with the outcome of every message. `--json file` stores the table,
 * `--minutes` limits the time.
 */
import { writeFile } from "node:fs/promises";
import { readOptions } from "../scripts/command-line/read-options.ts";
import { runCampaign } from "./chaos/campaign.ts";
import type { CampaignResult } from "./chaos/campaign.ts";

const values = readOptions("npm run chaos", {
  kills: { type: "string", default: "200", about: "how often the bot is killed" },
  seed: { type: "string", default: "1", about: "which campaign" },
  minutes: { type: "string", default: "60", about: "longest time" },
  json: { type: "string", about: "a file for the figures" },
  log: { type: "string", about: "a file for the bot's log" },
  calls: { type: "string", about: "a file for every call to the platform" },
});

const result = await runCampaign({
  kills: Number(values.kills),
  seed: Number(values.seed),
  limitMs: Number(values.minutes) * 60_000,
  onLog: async (text) => {
    if (values.log !== undefined) await writeFile(values.log, text);
  },
  onCalls: async (lines) => {
    if (values.calls !== undefined) await writeFile(values.calls, `${lines.join("\n")}\n`);
  },
  onProgress: (line) => process.stdout.write(`${line}\n`),
});
process.stdout.write(`${table(result)}\n`);
for (const breach of result.penaltyBreaches) process.stdout.write(`${breach}\n`);
for (const problem of result.totals.problems) process.stdout.write(`${problem}\n`);
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
for (const problem of result.cards.problems) process.stdout.write(`${problem}\n`);
for (const problem of result.reminders.problems) process.stdout.write(`${problem}\n`);
const { duplicated, lost, misplaced, outOfOrder, truncated, unformatted } = result.totals;
const { miscounted, missing, twice, unanswered } = result.cards;
const wrongCards = miscounted + missing + twice + unanswered;
const { asked, missing: notReminded, reminders, twice: remindedTwice, unexplained } = result.reminders;
// Where hardly any reminder was made, their part of the campaign has tested nothing.
const { jobs, missing: missingCode, repeated, told, twice: toldTwice, unwanted } = result.code;
for (const problem of result.code.problems) process.stdout.write(`${problem}\n`);
// Where hardly any code was run, its part of the campaign has tested nothing.
const wrongCode = missingCode + repeated + toldTwice + unwanted + (told < jobs / 3 ? 1 : 0);
const wrongReminders = notReminded + remindedTwice + unexplained + (reminders < asked / 2 ? 1 : 0);
const wrong =
  wrongReminders +
  wrongCode +
  wrongCards +
  lost +
  duplicated +
  truncated +
  outOfOrder +
  misplaced +
  unformatted +
  result.callsInPenalty;
if (wrong > 0) process.exitCode = 1;

function table({
  cards,
  code,
  reminders,
  totals,
  continuedMs,
  restartedMs,
  faults,
  ...rest
}: CampaignResult): string {
  const rows: readonly (readonly [string, string | number])[] = [
    ["seconds", rest.seconds],
    ["kills", rest.kills],
    ["messages written", totals.questions],
    ["messages of the bot", totals.shown],
    ["calls to the platform", rest.calls],
    ["faults", Object.values(faults).reduce((sum, count) => sum + count, 0)],
    ...Object.entries(faults).map(([kind, count]) => [`  ${kind}`, count] as const),
    ["calls refused for flood", rest.refusedForFlood],
    ["calls in a penalty", rest.callsInPenalty],
    ["  in one told as the bot was killed", rest.callsInUnheardPenalty],
    ["lost", totals.lost],
    ["duplicated", totals.duplicated],
    ["truncated", totals.truncated],
    ["out of order", totals.outOfOrder],
    ["in the wrong place", totals.misplaced],
    ["without its formatting", totals.unformatted],
    ["given up after too many kills", totals.interrupted],
    ["marked as sent again", totals.marked],
    ["drafts left beside them", totals.leftovers],
    ["  below them", totals.leftoversBelow],
    ["apologies", totals.apologies],
    ["cards", cards.cards],
    ["files", cards.files],
    ["  missing", cards.missing],
    ["  visible twice", cards.twice],
    ["presses", cards.presses],
    ["  without an answer", cards.unanswered],
    ["  whose handler was cut by a kill", cards.presses - cards.unanswered - cards.counted],
    ["cards with a wrong count", cards.miscounted],
    ["reminders asked for", reminders.asked],
    ["reminders made", reminders.reminders],
    ["digests, in all chats", reminders.digests],
    ["  missing, of both", reminders.missing],
    ["  visible twice, of both", reminders.twice],
    ["digests left out, and a row says so", reminders.skipped],
    ["  and none says so", reminders.unexplained],
    ["runs of code", code.jobs],
    ["  agreed to", code.agreed],
    ["  whose end is told", code.told],
    ["  whose end or effect is missing", code.missing],
    ["  told twice", code.twice],
    ["effects of code", code.effects],
    ["  undone", code.undone],
    ["  unwanted, or out of order", code.unwanted],
    ["  made again without a kill", code.repeated],
    ["ready to continued reply, ms", percentiles(continuedMs)],
    ["restart to continued reply, ms", percentiles(restartedMs)],
  ];
  return rows.map(([name, value]) => `${name.padEnd(34)} ${value}`).join("\n");
}

function percentiles(sorted: readonly number[]): string {
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, max ${sorted.at(-1) ?? 0} (${sorted.length} times)`;
}
