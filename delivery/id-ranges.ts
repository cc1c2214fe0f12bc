/** First and last id of a run without a gap. */
export type IdRun = readonly [number, number];

/** The runs of a set of ids, ascending. */
export function runsOf(ids: Iterable<number>): IdRun[] {
  const runs: [number, number][] = [];
  for (const id of [...ids].toSorted((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last !== undefined && id <= last[1] + 1) last[1] = id;
    else runs.push([id, id]);
  }
  return runs;
}

export function idsOf(runs: readonly IdRun[]): number[] {
  return runs.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
}
