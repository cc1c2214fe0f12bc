import type { Clock } from "../../../core/base/deps.ts";
import { failureCode } from "../../../core/base/errors.ts";
import type { HealthProblem } from "./health-problem.ts";
import type { RootStore } from "../root-store.ts";

/** One write answers all requests within this time, because anybody may call `/health`. */
const PROBE_EVERY_MS = 10_000;
/** A failure no longer counts after this time, if no message has come since. */
const FAILURE_COUNTS_MS = 60_000;

/**
 * Checks whether messages can be stored, with a write of the root. The root's file may have room left where a new
 * conversation has none. So the newest failure to store a message counts too, until one is stored.
 */
export class StorageHealth {
  readonly #clock: Clock;
  readonly #store: Pick<RootStore, "probe">;
  #probedAt = -Infinity;
  #failure: { readonly code: string; readonly at: number } | undefined;

  constructor(options: { readonly clock: Clock; readonly store: Pick<RootStore, "probe"> }) {
    this.#clock = options.clock;
    this.#store = options.store;
  }

  /** Notes that messages were stored. */
  worked(): void {
    this.#failure = undefined;
  }

  /** Notes that messages could not be stored. */
  failed(error: unknown): void {
    this.#failure = { code: failureCode(error), at: this.#clock.now() };
  }

  problem(): HealthProblem | undefined {
    const now = this.#clock.now();
    try {
      if (now - this.#probedAt >= PROBE_EVERY_MS) this.#store.probe(now);
      this.#probedAt = now;
    } catch (error) {
      this.#probedAt = -Infinity;
      return storageProblem(error);
    }
    const failure = this.#failure;
    if (failure === undefined || now - failure.at >= FAILURE_COUNTS_MS) return undefined;
    return notStored(failure.code);
  }
}

/** Returns the problem of an object whose storage has failed. */
export function storageProblem(error: unknown): HealthProblem {
  return notStored(failureCode(error));
}

const MESSAGES: Readonly<Record<string, string>> = {
  "storage-full":
    "The disk of the bot's storage is full. Free some space; messages wait at the platform until then.",
  "data-newer":
    "The bot's data was written by a newer version of Switchboard. Install that version again, or restore a backup from before the upgrade; messages wait at the platform until then.",
};

function notStored(code: string): HealthProblem {
  const message = MESSAGES[code];
  return {
    status: "unavailable",
    code: message === undefined ? "not-stored" : code,
    message:
      message ??
      `Messages cannot be stored (${code}); the log says more. They wait at the platform until they can.`,
  };
}
