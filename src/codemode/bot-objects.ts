import { ConfigurationError } from "../core/base/errors.ts";
import type { Action } from "../actions/declare/action.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CodeRuns } from "./code-runs.ts";
import type { CodeStore } from "./code-store.ts";
import type { RunRollback } from "./run-rollback.ts";
import type { RunLog, ConnectedRuntime } from "./connected-runtime.ts";

/** The feature, as the bot's own code uses it. */
export interface CodeFeature extends RunLog {
  readonly host: Pick<FeatureHost<unknown>, "deps" | "log">;
  readonly runs: CodeRuns;
  readonly store: CodeStore;
  readonly rollback: RunRollback;
  loadActions(): Promise<void>;
  /** The bot's actions that code can call. */
  botActions(): ReadonlyMap<string, Action>;
}

/** One object of a bot with its runtimes. Bot code makes them before or after the feature is there. */
export interface CodeObject {
  feature?: CodeFeature;
  readonly runtimes: Map<string, ConnectedRuntime>;
}

const objects = new WeakMap<object, CodeObject>();

/** Returns the object that has this `ctx`. */
export function codeObject(ctx: object): CodeObject {
  const known = objects.get(ctx);
  if (known !== undefined) return known;
  const made: CodeObject = { runtimes: new Map() };
  objects.set(ctx, made);
  return made;
}

/** @throws {ConfigurationError} `codemode-missing` */
export function featureOf(object: CodeObject): CodeFeature {
  if (object.feature !== undefined) return object.feature;
  throw new ConfigurationError(
    "codemode-missing",
    'A runtime for code needs its feature: write `static override codemode = codemode()` into the bot\'s class, and import { codemode } from "switchboard/codemode".',
  );
}
