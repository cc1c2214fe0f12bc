/**
 * `npm run bench`: the served bot beside a bare object that inserts a row and, once `npm run bench:peers` has installed
 * it, beside the same bot on its peer. All of them run in workerd with storage on disk, at the same time and by turns.
 *
 *   npm run bench -- [--only webhook,latency] [--rounds 3] [--transcript 10,100,1000] [--without think] [--json]
 *   npm run bench -- --only against --against FOLDER       beside the same bot on the sources in another folder
 */
import { loadavg } from "node:os";
import { readOptions } from "../scripts/command-line/read-options.ts";
import { earlierSources } from "./bench/earlier-sources.ts";
import { isPeerInstalled, type ContenderName } from "./bench/contender.ts";
import { againstPart } from "./bench/parts/against.ts";
import { chatsPart, mostPart } from "./bench/parts/chats.ts";
import { actionsPart, approvalsPart, pendingPart } from "./bench/parts/consent.ts";
import { documentsPart, pressesPart } from "./bench/parts/content.ts";
import type { Part } from "./bench/parts/context.ts";
import { fiftyPart, longPart, stormPart, tokensPart } from "./bench/parts/engine.ts";
import { latencyPart } from "./bench/parts/latency.ts";
import { questionsPart } from "./bench/parts/questions.ts";
import { routesPart } from "./bench/parts/routes.ts";
import { rowsPart } from "./bench/parts/rows.ts";
import { schedulesPart } from "./bench/parts/schedules.ts";
import { threadsPart } from "./bench/parts/threads.ts";
import { transcriptsPart } from "./bench/parts/transcripts.ts";
import { webhookPart } from "./bench/parts/webhook.ts";
import { Report } from "./bench/report.ts";

/** In order of running. The most important parts come first, for runs that are ended early. */
const PARTS: Readonly<Record<string, Part>> = {
  webhook: webhookPart,
  latency: latencyPart,
  presses: pressesPart,
  documents: documentsPart,
  approvals: approvalsPart,
  questions: questionsPart,
  actions: actionsPart,
  pending: pendingPart,
  chats: chatsPart,
  most: mostPart,
  routes: routesPart,
  rows: rowsPart,
  schedules: schedulesPart,
  long: longPart,
  fifty: fiftyPart,
  storm: stormPart,
  tokens: tokensPart,
  transcripts: transcriptsPart,
  threads: threadsPart,
  against: againstPart,
};

const values = readOptions("npm run bench", {
  only: { type: "string", about: `parts, with commas between: ${Object.keys(PARTS).join(", ")}` },
  rounds: { type: "string", default: "3", about: "how often each part runs" },
  transcript: { type: "string", default: "10,100,1000", about: "lengths of transcripts, in messages" },
  without: {
    type: "string",
    default: "",
    about: "contenders to leave out: switchboard, think, bare, bare+hop",
  },
  against: {
    type: "string",
    about: "folder of another checkout with its node_modules, for the part `against`: the plain bot on both",
  },
  now: {
    type: "string",
    about: "folder of a checkout to compare with that of `against`, instead of this one",
  },
  json: { type: "boolean", default: false, about: "print the measurements as JSON" },
});

const chosen = values.only?.split(",") ?? Object.keys(PARTS);
const sourcesIn = (folder: string | undefined): string | undefined =>
  folder === undefined ? undefined : earlierSources(folder);
const sources = { now: sourcesIn(values.now), before: sourcesIn(values.against) };
if (sources.before === undefined && values.only?.split(",").includes("against") === true) {
  process.stderr.write("Name the other checkout: --against FOLDER\n");
  process.exit(1);
}
const left = values.without.split(",");
const report = new Report((line) => process.stderr.write(`${line}\n`));
const isWanted = (name: ContenderName): boolean => !left.includes(name);
const peers: ContenderName[] = isPeerInstalled() ? ["think"] : [];
if (peers.length === 0) process.stderr.write("The peer is not installed: npm run bench:peers\n");

for (const name of chosen) {
  if (PARTS[name] !== undefined) continue;
  process.stderr.write(`There is no part "${name}". The parts: ${Object.keys(PARTS).join(", ")}.\n`);
  process.exit(1);
}

function print(): void {
  process.stdout.write(
    values.json ? `${JSON.stringify(report.measurements, undefined, 2)}\n` : `${report.table()}\n`,
  );
}

process.once("SIGINT", () => {
  print();
  process.exit(130);
});

const began = performance.now();
for (const name of chosen) {
  try {
    await PARTS[name]?.({
      report,
      sources,
      bots: (["switchboard", ...peers] as const).filter(isWanted),
      bare: (["bare", "bare+hop"] as const).filter(isWanted),
      rounds: Math.max(1, Number(values.rounds)),
      transcripts: values.transcript.split(",").map(Number),
    });
  } catch (error) {
    // The results of the other parts are still useful.
    process.exitCode = 1;
    process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const load = loadavg().map((value) => value.toFixed(1));
  process.stderr.write(`-- ${name} done, ${minutes} minutes so far; load ${load.join(" ")}\n`);
}
print();
