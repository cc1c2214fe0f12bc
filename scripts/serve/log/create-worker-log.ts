import path from "node:path";
import { createSecretHider } from "./hide-secrets.ts";
import { SourcePlaces } from "./source-places.ts";
import { WorkerLog } from "./worker-log.ts";

/** The log of a bundle's workers on standard output. */
export function createWorkerLog(options: {
  /** The bundle's entry, with its source map beside it. */
  readonly entryFile: string;
  readonly sourcesFrom: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether no request can have come yet. */
  readonly isStarting: () => boolean;
}): WorkerLog {
  const { entryFile, environment, isStarting, sourcesFrom } = options;
  return new WorkerLog({
    write: (line) => void process.stdout.write(`${line}\n`),
    places: new SourcePlaces({
      mapFile: `${entryFile}.map`,
      sourcesFrom,
      moduleName: path.basename(entryFile),
      shownFrom: process.cwd(),
    }),
    secrets: createSecretHider(environment),
    isRevealing: () => isDebug(environment.DEBUG) || isStarting(),
    now: Date.now,
    after: (delayMs, callback) => void setTimeout(callback, delayMs).unref(),
  });
}

/** Other values of `DEBUG` are those of other programs. */
function isDebug(value: string | undefined): boolean {
  return value === "1" || value === "true";
}
