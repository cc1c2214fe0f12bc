import { isFailure, isWaitingResult } from "../actions/declare/action-errors.ts";
import type { ActionOutput } from "../actions/declare/action-errors.ts";
import { toJson } from "../actions/declare/normalize-output.ts";
import { canonicalJson } from "../core/json/canonical-json.ts";
import type { Json } from "../core/message/content.ts";
import type { Clock } from "../core/base/deps.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import type { ExecuteResult, Executor, SandboxConnector } from "../sandbox/executor.ts";
import { steadySource } from "../sandbox/steady.ts";
import type { CodeCall, CodeRun, CodeStore } from "./code-store.ts";
import { divergence } from "./outcomes.ts";

export interface CodePassOptions {
  readonly run: CodeRun;
  readonly store: CodeStore;
  readonly clock: Clock;
  readonly executor: Executor;
  readonly connectors: readonly PassConnector[];
  readonly signal: AbortSignal | undefined;
  /** Time after which the code lets its place go while a tool works, in milliseconds. */
  readonly slowAfterMs: number;
  /** Makes one call through the bot's actions. */
  readonly call: (call: CodeCall) => Promise<ActionOutput>;
}

export interface PassConnector {
  readonly name: string;
  readonly methods: readonly string[];
  /** Methods whose results a replay reads again. */
  readonly rereads: ReadonlySet<string>;
}

/**
 * The end of one pass.
 *
 * - `ended`: the code has ended
 * - `waits`: people must agree first
 * - `slow`: a tool takes long; the code runs again when `settled` resolves
 * - `stopped`: its turn was stopped; calls that have begun are over when `settled` resolves
 */
export type PassEnd =
  | { readonly kind: "ended"; readonly end: ExecuteResult }
  | { readonly kind: "waits" }
  | { readonly kind: "slow"; readonly settled: Promise<unknown> }
  | { readonly kind: "stopped"; readonly settled: Promise<unknown> };

/** Longest value of the log as JSON. A row of the database has 2 MB. */
const LONGEST_VALUE = 1_000_000;

/**
 * One pass through the code of a run: from its start, with the results of its log, as far as it comes.
 *
 * 1. A call has the next place of the run. It is stored before it begins, and its result before the code gets it.
 * 2. A call that the log has answers from it. One that differs from the log ends the run with an error, and so does the
 *    end of the code before a call of the log.
 * 3. A pass that ends early is dropped, whatever `catch` and `finally` of the code say: it makes no call any more.
 *    Calls that have begun still store their results.
 */
export class CodePass {
  readonly #options: CodePassOptions;
  readonly #drop = new AbortController();
  readonly #early = Promise.withResolvers<PassEnd>();
  /** Calls that have begun. */
  readonly #begun: Promise<unknown>[] = [];
  #next = 0;

  constructor(options: CodePassOptions) {
    this.#options = options;
  }

  async run(): Promise<PassEnd> {
    const { connectors, executor, run, signal } = this.#options;
    const stopped = (): void => this.#end({ kind: "stopped", settled: Promise.allSettled(this.#begun) });
    if (signal?.aborted === true) return { kind: "stopped", settled: Promise.resolve() };
    signal?.addEventListener("abort", stopped, { once: true });
    const steady = { name: "__steady", fns: {}, prelude: steadySource(run.createdAt, run.id) };
    const ended = executor.execute(run.code, [steady], {
      connectors: connectors.map((one) => this.#binding(one)),
      signal: this.#drop.signal,
    });
    try {
      return await Promise.race([
        this.#early.promise,
        ended.then((end): PassEnd => ({ kind: "ended", end: this.#checked(end) })),
      ]);
    } finally {
      signal?.removeEventListener("abort", stopped);
      this.#drop.abort();
    }
  }

  /** Code that ends before a call of its log has come to another end than its earlier pass. */
  #checked(end: ExecuteResult): ExecuteResult {
    const { run, store } = this.#options;
    const missing = end.error === undefined ? store.call(run.id, this.#next) : undefined;
    return missing === undefined ? end : { result: undefined, error: divergence(missing, undefined) };
  }

  #end(end: PassEnd): void {
    this.#early.resolve(end);
    this.#drop.abort();
  }

  #binding({ methods, name, rereads }: PassConnector): SandboxConnector {
    const callTool = async (method: string, given: unknown): Promise<unknown> => {
      if (this.#drop.signal.aborted) throw dropped();
      if (!methods.includes(method)) throw new Error(`Tool "${name}.${method}" not found`);
      return this.#call({ connector: name, method, args: toJson(given ?? {}) }, rereads.has(method));
    };
    return { name, binding: { callTool } };
  }

  async #call(called: Pick<CodeCall, "connector" | "method" | "args">, isReread: boolean): Promise<unknown> {
    const { clock, run, store } = this.#options;
    const position = this.#next;
    this.#next += 1;
    if (JSON.stringify(called.args).length > LONGEST_VALUE)
      throw new Error(`The argument has more than ${LONGEST_VALUE} characters. Give it in pieces.`);
    const hash = sha256Now(canonicalJson([called.connector, called.method, called.args]));
    const known = store.call(run.id, position);
    if (known !== undefined && known.hash !== hash) {
      this.#end({ kind: "ended", end: { result: undefined, error: divergence(known, called) } });
      throw dropped();
    }
    if (known?.state === "error") throw new Error(wordsOf(known.result));
    if (known !== undefined && !isReread && known.state !== "executing" && known.state !== "pending")
      return known.result;
    const row: CodeCall = known ?? {
      ...called,
      run: run.id,
      position,
      hash,
      state: "executing",
      result: undefined,
      asked: undefined,
      createdAt: clock.now(),
    };
    if (known === undefined) store.addCall(row);
    return this.#made(row, isReread);
  }

  async #made(row: CodeCall, isReread: boolean): Promise<unknown> {
    const { call, clock, slowAfterMs } = this.#options;
    const settled = call(row).then((output) => this.#record(row, output, isReread));
    this.#begun.push(settled);
    const timer = clock.setTimeout(() => this.#end({ kind: "slow", settled }), slowAfterMs);
    const end = await settled.finally(() => clock.clearTimeout(timer));
    if (end.kind === "waits") this.#end({ kind: "waits" });
    if (this.#drop.signal.aborted) throw dropped();
    if (end.kind === "failed") throw new Error(end.message);
    if (end.kind === "done") return end.result;
    throw dropped();
  }

  /** Stores the result of a call. */
  #record(row: CodeCall, output: ActionOutput, isReread: boolean): CallEnd {
    const { store } = this.#options;
    if (isWaitingResult(output)) {
      const { waiting } = output;
      const asked =
        "approvalId" in waiting ? `approval:${waiting.approvalId}` : `question:${waiting.questionId}`;
      store.changeCall(row, { state: "pending", asked });
      return { kind: "waits" };
    }
    if (isFailure(output)) {
      const { message } = output.error;
      store.changeCall(row, { state: "error", result: message });
      return { kind: "failed", message };
    }
    if (isReread) {
      store.changeCall(row, { state: "applied" });
      return { kind: "done", result: output };
    }
    // The tool of a connector has stored its whole result itself.
    const known = store.call(row.run, row.position);
    if (known?.state === "applied") return { kind: "done", result: known.result };
    store.changeCall(row, { state: "applied", result: output });
    return { kind: "done", result: output };
  }
}

type CallEnd =
  | { readonly kind: "waits" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done"; readonly result: unknown };

function wordsOf(failure: Json | undefined): string {
  return typeof failure === "string" ? failure : "The call failed.";
}

/** The answer to a call of a dropped pass. An executor that cannot drop code lets it end so. */
function dropped(): Error {
  return new Error("The run was dropped.");
}
