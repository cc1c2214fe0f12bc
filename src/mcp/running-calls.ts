import type { Json } from "../core/message/content.ts";
import { wait } from "../core/base/deps.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CallRow, CallStore } from "./call-store.ts";
import { longTaskOf } from "./call-task.ts";
import type { CallAnswer, CallProgress, CallTask } from "./mcp-calls.ts";

export interface RunningCallsOptions {
  readonly host: Pick<FeatureHost<unknown>, "deps" | "wakeSoon">;
  readonly store: CallStore;
}

interface RunningCall {
  readonly requestId: string | number;
  readonly answer: Promise<CallAnswer>;
  readonly stop: AbortController;
  progress: CallProgress | undefined;
}

/** A client gives up after a minute. A run that takes longer becomes a task before. */
export const LONGEST_WAIT_MS = 45_000;

/** The calls whose actions run in this process. */
export class RunningCalls {
  readonly #options: RunningCallsOptions;
  readonly #running = new Map<string, RunningCall>();

  constructor(options: RunningCallsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#running.size;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Runs a call. Its answer is a task if the run takes long. */
  run(
    row: CallRow,
    requestId: string | number,
    act: (signal: AbortSignal) => Promise<CallAnswer>,
  ): Promise<CallAnswer> {
    const stop = new AbortController();
    const acting = async (): Promise<CallAnswer> => {
      try {
        return await act(stop.signal);
      } finally {
        this.#running.delete(row.id);
      }
    };
    const answer = acting();
    this.#running.set(row.id, { requestId, answer, stop, progress: undefined });
    return this.#inTime(row, answer);
  }

  /** Joins the run of a call. Undefined if it does not run. */
  join(row: CallRow): Promise<CallAnswer> | undefined {
    const running = this.#running.get(row.id);
    return running && this.#inTime(row, running.answer);
  }

  /** From here on the call does not run. In one step: a call that becomes a task meanwhile would never end. */
  settle(id: string, output: Json): void {
    const { host, store } = this.#options;
    this.#running.delete(id);
    if (store.get(id)?.isLong === true) store.change(id, { output, endedAt: host.deps.clock.now() });
  }

  /** Returns a call that takes long, or did. Undefined for others. */
  task(row: CallRow, hasSchema: boolean): CallTask | undefined {
    if (!row.isLong) return undefined;
    const running = this.#running.get(row.id);
    const task = longTaskOf(row, running !== undefined, hasSchema);
    return { ...task, progress: running?.progress?.message };
  }

  /** Notes how far a call is. In memory only. */
  note(id: string, message: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.progress = { step: (running.progress?.step ?? 0) + 1, message };
  }

  progressOf(requestId: string | number): CallProgress | undefined {
    return [...this.#running.values()].find((running) => running.requestId === requestId)?.progress;
  }

  stop(id: string): void {
    this.#running.get(id)?.stop.abort();
  }

  stopAll(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  /** Stops the calls of a request that has no answer yet. */
  stopRequest(requestId: string | number): void {
    for (const [id, running] of this.#running)
      if (running.requestId === requestId && this.#options.store.get(id)?.isLong !== true)
        running.stop.abort();
  }

  async #inTime(row: CallRow, answer: Promise<CallAnswer>): Promise<CallAnswer> {
    const { host, store } = this.#options;
    const isAnswered = new AbortController();
    const late = wait(host.deps.clock, LONGEST_WAIT_MS, isAnswered.signal).catch(() => undefined);
    try {
      const first = await Promise.race([answer, late]);
      if (first !== undefined || !this.has(row.id)) return first ?? (await answer);
    } finally {
      isAnswered.abort();
    }
    store.change(row.id, { isLong: true });
    // No request keeps the object from now on, but its loop does.
    host.wakeSoon();
    return { kind: "task", callId: row.id, task: longTaskOf(row, true) };
  }
}
