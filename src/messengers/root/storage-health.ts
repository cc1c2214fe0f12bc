import type { Clock } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { HealthProblem } from "./health-problem.ts";
import type { RootStore } from "./root-store.ts";

/** Anybody may ask for `/health`, so that one write answers all who ask within this time. */
const PROBE_EVERY_MS = 10_000;
/** After this time a failure says nothing any more, if no message has come since. */
const FAILURE_COUNTS_MS = 60_000;

/**
 * Whether messages can be stored. A write of the root's own is tried; but its file may have room left where a new
 * conversation has none, so that the newest failure to store a message counts too, until one is stored.
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

  /** Messages were stored. */
  worked(): void {
    this.#failure = undefined;
  }

  /** Messages could not be stored. */
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

/** The problem of an object whose storage has failed. */
export function storageProblem(error: unknown): HealthProblem {
  return notStored(failureCode(error));
}

function notStored(code: string): HealthProblem {
  return {
    status: "unavailable",
    code: code === "storage-full" ? code : "not-stored",
    message:
      code === "storage-full"
        ? "The disk of the bot's storage is full. Free some space; messages wait at the platform until then."
        : `Messages cannot be stored (${code}); the log says more. They wait at the platform until they can.`,
  };
}
