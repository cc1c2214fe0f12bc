import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import type { Clock } from "../core/base/deps.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import { ParkedCallStore } from "./parked-call-store.ts";
import type { ParkedCall } from "./parked-call-store.ts";

/** Functions of the object that keeps parked calls. */
export interface ParkedCallsHost {
  readonly database: Database;
  readonly clock: Clock;
  /** Runs a call again, from its start, outside of any turn. Undefined if it asks again: it is parked by then. */
  run(call: ParkedCall): Promise<Json | undefined>;
  /** Gives the outcome to whoever waits for it. Called in a transaction, once for each call. */
  tell(call: ParkedCall, outcome: Json): void;
  /** Called after a change, so that the next work happens even if the process dies. */
  onChange(): void;
  onFailure(error: unknown): void;
}

/** A call that is parked for the first time, or asks again. */
export type NewParkedCall = Omit<ParkedCall, "state" | "outcome" | "isTold" | "createdAt" | "endedAt">;

/** Time after which work that a crash or a failure left is tried again. */
const AGAIN_AFTER_MS = 2500;
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/**
 * Calls that were dropped because they wait for a person, from there to the outcome.
 *
 * 1. `park` and `resume` are each one step of the caller's transaction.
 * 2. `running` is stored before the call runs again. After a crash it runs again, and the ledger tells whether that may
 *    have an effect.
 * 3. The outcome is stored when it is known, and told once, in one transaction with the note that it is told.
 * 4. A call that waits causes no work and no wake-up.
 */
export class ParkedCalls {
  readonly store: ParkedCallStore;
  readonly #host: ParkedCallsHost;
  readonly #running = new Map<string, Promise<void>>();
  readonly #sweep: Sweep;

  constructor(host: ParkedCallsHost) {
    this.#host = host;
    this.store = new ParkedCallStore(host.database);
    const old = [
      { table: "parked_call_v1", key: "id", where: "is_told = 1", since: "ended_at", keepMs: KEEP_MS },
    ];
    this.#sweep = new Sweep(host.database, host.clock, old, SWEEP_EVERY_MS);
  }

  /** Stores that a call waits for an answer. Only inside a transaction. */
  park(call: NewParkedCall): void {
    const { id, runId } = call;
    if (this.store.get(id) !== undefined) {
      this.store.change(id, { runId, state: "asking" });
      return;
    }
    const open = { state: "asking", outcome: undefined, isTold: false, endedAt: undefined } as const;
    this.store.insert({ ...call, ...open, createdAt: this.#host.clock.now() });
  }

  /** Stores that the answer is there. Only inside the transaction that stores the answer. */
  resume(id: string): void {
    if (this.store.get(id)?.state === "asking") this.store.change(id, { state: "ready" });
  }

  /** Does all due work. Resolves when the calls that it has begun have ended, or ask again. */
  async run(): Promise<void> {
    for (const call of this.#due()) {
      if (call.state === "ended") this.#tell(call);
      else this.#begin(call);
    }
    this.#sweep.run();
    await Promise.all(this.#running.values());
  }

  isBusy(): boolean {
    return this.#running.size > 0;
  }

  nextWakeAt(): number | undefined {
    return this.#due().length > 0 ? this.#host.clock.now() + AGAIN_AFTER_MS : undefined;
  }

  #due(): ParkedCall[] {
    return this.store.open().filter(({ state }) => state !== "asking");
  }

  #tell(call: ParkedCall): void {
    this.#host.database.transaction(() => {
      this.#host.tell(call, call.outcome ?? null);
      this.store.change(call.id, { isTold: true });
    });
  }

  #begin(call: ParkedCall): void {
    const { id } = call;
    if (this.#running.has(id)) return;
    this.store.change(id, { state: "running" });
    const work = this.#host
      .run({ ...call, state: "running" })
      .then((outcome) => {
        if (outcome === undefined) return;
        this.store.change(id, { state: "ended", outcome, endedAt: this.#host.clock.now() });
        this.#tell({ ...call, outcome });
      })
      .catch((error: unknown) => {
        // The row stays as it is. The next wake-up tries again, and the ledger knows the outcome of this try.
        this.#host.onFailure(error);
      })
      .finally(() => {
        this.#running.delete(id);
        this.#host.onChange();
      });
    this.#running.set(id, work);
  }
}
