import { z } from "zod";

/** First and last id of a sequence without a gap. */
export type IdRun = readonly [number, number];

/** Returns the runs of a set of ids, ascending. */
export function runsOf(ids: Iterable<number>): IdRun[] {
  const runs: [number, number][] = [];
  for (const id of [...ids].toSorted((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last !== undefined && id <= last[1] + 1) last[1] = id;
    else runs.push([id, id]);
  }
  return runs;
}

const runsSchema = z.array(z.tuple([z.int(), z.int()]));

/** Returns ids in the form in which they are stored. */
export function storeIds(ids: Iterable<number>): string {
  return JSON.stringify(runsOf(ids));
}

export function parseIds(json: string): number[] {
  return runsSchema
    .parse(JSON.parse(json))
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}
