import type { SimulationResult } from "./simulate.ts";

/** Sums over many runs. */
export interface Totals {
  seeds: number;
  failed: number;
  seedsPerSecond: number;
  messages: number;
  replies: number;
  parts: number;
  crashes: number;
  faults: number;
  penaltyBreaches: number;
  marked: number;
  leftovers: number;
  givenUp: number;
  gone: number;
  drafts: number;
  appends: number;
  takeovers: number;
  stopped: number;
  beside: number;
  deleted: number;
}

export function noFigures(): Totals {
  return {
    seeds: 0,
    failed: 0,
    seedsPerSecond: 0,
    messages: 0,
    replies: 0,
    parts: 0,
    crashes: 0,
    faults: 0,
    penaltyBreaches: 0,
    marked: 0,
    leftovers: 0,
    givenUp: 0,
    gone: 0,
    drafts: 0,
    appends: 0,
    takeovers: 0,
    stopped: 0,
    beside: 0,
    deleted: 0,
  };
}

export function addFigures(totals: Totals, result: SimulationResult): void {
  const { figures } = result;
  totals.seeds += 1;
  if (result.violation !== undefined) totals.failed += 1;
  totals.messages += result.written;
  totals.crashes += result.crashes;
  totals.faults += result.faults;
  totals.penaltyBreaches += result.penaltyBreaches;
  totals.drafts += result.happened.drafts;
  totals.appends += result.happened.appends;
  totals.takeovers += result.happened.takeovers;
  totals.stopped += result.happened.stopped;
  totals.beside += result.happened.beside;
  totals.deleted += result.deleted;
  if (figures === undefined) return;
  totals.replies += figures.delivered;
  totals.parts += figures.parts;
  totals.marked += figures.marked;
  totals.leftovers += figures.leftovers;
  totals.givenUp += figures.failed;
  totals.gone += figures.gone;
}

/** Adds the sums of other runs. */
export function addTotals(totals: Totals, more: Totals): void {
  for (const key of Object.keys(totals) as (keyof Totals)[]) totals[key] += more[key];
}

export function describeTotals(totals: Totals): string {
  const rows: readonly (readonly [string, number])[] = [
    ["seeds", totals.seeds],
    ["seeds a second", totals.seedsPerSecond],
    ["seeds that broke an invariant", totals.failed],
    ["messages written", totals.messages],
    ["replies delivered", totals.replies],
    ["messages of these", totals.parts],
    ["crashes", totals.crashes],
    ["faults of calls", totals.faults],
    ["calls that met a penalty", totals.penaltyBreaches],
    ["messages marked as sent again", totals.marked],
    ["drafts left beside them", totals.leftovers],
    ["replies given up by policy", totals.givenUp],
    ["replies to a person who had gone", totals.gone],
    ["drafts shown", totals.drafts],
    ["additions to streamed messages", totals.appends],
    ["takeovers of visible messages", totals.takeovers],
    ["replies stopped in the middle", totals.stopped],
    ["notices beside a streaming reply", totals.beside],
    ["messages deleted by a person", totals.deleted],
  ];
  return rows.map(([name, value]) => `${name.padEnd(34)} ${value}`).join("\n");
}
