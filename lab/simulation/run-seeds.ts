import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { addTotals, noFigures } from "./totals.ts";
import type { Totals } from "./totals.ts";

export interface SeedRange {
  readonly from: number;
  readonly seeds: number;
  /** The name of a mutant. */
  readonly mutant?: string | undefined;
  /** Kind of the plan items without which a seed is left out. @default every seed runs */
  readonly needs?: string | undefined;
  /** Stops after this number of failing seeds. @default never */
  readonly most?: number;
  /** How many seeds run at the same time. @default one for each core */
  readonly workers?: number;
}

export interface FailedSeed {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
}

export interface SeedsResult {
  readonly totals: Totals;
  /** In the order of their seeds. */
  readonly failed: readonly FailedSeed[];
}

/** Request to a worker: some consecutive seeds. */
export interface SeedsQuestion {
  readonly from: number;
  readonly seeds: number;
  readonly mutant: string | undefined;
  readonly needs: string | undefined;
}

/** The sandbox has a file of WebAssembly, which Node cannot import. */
const LOAD_WASM = new URL("../support/load-wasm.ts", import.meta.url).href;

/** Few enough that all workers end at about the same time. */
const SEEDS_AT_ONCE = 20;

/** Runs many seeds on all cores. Every seed is a run of its own, so the worker and the order do not matter. */
export async function runSeeds(range: SeedRange): Promise<SeedsResult> {
  const { from, seeds, mutant, needs, most = Infinity, workers = availableParallelism() } = range;
  const totals = noFigures();
  const failed: FailedSeed[] = [];
  const startedAt = performance.now();
  let next = from;
  const take = (): SeedsQuestion | undefined => {
    const first = next;
    if (first >= from + seeds || failed.length >= most) return undefined;
    next = Math.min(first + SEEDS_AT_ONCE, from + seeds);
    return { from: first, seeds: next - first, mutant, needs };
  };
  const keep = (result: SeedsResult): void => {
    addTotals(totals, result.totals);
    failed.push(...result.failed);
  };
  const crew = Math.max(1, Math.min(workers, Math.ceil(seeds / SEEDS_AT_ONCE)));
  await Promise.all(Array.from({ length: crew }, () => work(take, keep)));
  totals.seedsPerSecond = Math.round((totals.seeds * 1_000) / (performance.now() - startedAt));
  return { totals, failed: failed.toSorted((left, right) => left.seed - right.seed) };
}

/** Runs one worker and gives it seeds while there are any. */
async function work(
  take: () => SeedsQuestion | undefined,
  keep: (result: SeedsResult) => void,
): Promise<void> {
  const worker = new Worker(new URL("seeds-worker.ts", import.meta.url), {
    execArgv: ["--import", LOAD_WASM],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const ask = (): void => {
        const question = take();
        if (question === undefined) resolve();
        else worker.postMessage(question);
      };
      worker.on("message", (result: SeedsResult) => {
        keep(result);
        ask();
      });
      worker.on("error", reject);
      worker.on("exit", () =>
        reject(new Error("A worker of the simulation has ended before its seeds had.")),
      );
      ask();
    });
  } finally {
    worker.removeAllListeners("exit");
    await worker.terminate();
  }
}
