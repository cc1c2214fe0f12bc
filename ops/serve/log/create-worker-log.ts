import path from "node:path";
import { createSecretHider } from "../../../src/log/hide-secrets.ts";
import { SourcePlaces } from "./source-places.ts";
import { WorkerLog } from "./worker-log.ts";

/** Creates the log of a bundle's workers. */
export function createWorkerLog(options: {
  /** Path of the bundle's entry. Its source map is in the same folder. */
  readonly entryFile: string;
  /** Called with each line. */
  readonly write: (line: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns true until the first request may have arrived. */
  readonly isStarting: () => boolean;
}): WorkerLog {
  const { entryFile, environment, isStarting, write } = options;
  return new WorkerLog({
    write,
    places: new SourcePlaces({
      mapFile: `${entryFile}.map`,
      sourcesFrom: process.cwd(),
      moduleName: path.basename(entryFile),
      shownFrom: process.cwd(),
    }),
    secrets: createSecretHider(environment),
    level: environment.LOG_LEVEL,
    isRevealing: () => isDebug(environment.DEBUG) || isStarting(),
    now: Date.now,
    after: (delayMs, callback) => void setTimeout(callback, delayMs).unref(),
  });
}

/** True for `1` and `true`. Other values of `DEBUG` are meant for other programs. */
function isDebug(value: string | undefined): boolean {
  return value === "1" || value === "true";
}
