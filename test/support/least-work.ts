/**
 * Processor time of the best of some runs, in milliseconds: on a busy machine the clock says little.
 *
 * @param enough once a run took less, there are no more
 */
export function leastWork(runs: number, work: () => void, enough = 0): number {
  let least = Infinity;
  for (let run = 0; run < runs && least >= enough; run += 1) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** A busy machine only ever adds time: what is measured too high once is measured again. */
export const NOISE = { retry: 4 };
