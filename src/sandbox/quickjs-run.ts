import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";
import { fromBase64, toBase64 } from "../core/bytes/base64.ts";
import { wait } from "../core/base/deps.ts";
import type { Clock } from "../core/base/deps.ts";
import type { ExecuteResult, SandboxConnector, SandboxLimit, SandboxProvider } from "./executor.ts";
import { GUEST_SOURCE } from "./guest-source.ts";
import { LimitReached, openEngine } from "./metered-engine.ts";
import type { MeteredEngine } from "./metered-engine.ts";
import { limitError } from "./sandbox-limits.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { steadySource } from "./steady.ts";
import { fromWire, toWire } from "./wire.ts";

export interface QuickJSRunOptions {
  readonly code: string;
  readonly providers: readonly SandboxProvider[];
  readonly connectors: readonly SandboxConnector[];
  readonly signal: AbortSignal | undefined;
  readonly limits: Required<SandboxLimits>;
  readonly clock: Clock;
  readonly seed: string;
}

/** The end of a call of a tool. */
interface Settled {
  readonly id: number;
  readonly isDone: boolean;
  /** JSON of the result, or the words of the error. */
  readonly text: string | undefined;
}

type End = { readonly kind: "done" | "failed"; readonly text: string | undefined };

/** Words of the other side about the failures that are limits. */
const FAILED_LIMITS: ReadonlyMap<string, SandboxLimit | "nothing"> = new Map([
  ["memoryBytes", "memoryBytes"],
  ["stackBytes", "stackBytes"],
  ["nothing", "nothing"],
]);

/** Longest text of an error. */
const ERROR_LENGTH = 2_000;
/** Share of the ticks after which other work gets its turn. */
const FAIR_SHARE = 0.25;

/**
 * One run of code.
 *
 * 1. Only strings and bytes pass between both sides, so nothing inside reaches an object of the host.
 * 2. The code runs in stretches: from its start, or from the end of a tool, until it waits. Each has a meter.
 * 3. Nothing runs inside after the end, or after a limit.
 */
export class QuickJSRun {
  readonly #options: QuickJSRunOptions;
  readonly #logs: string[] = [];
  readonly #settled: Settled[] = [];
  #changed = Promise.withResolvers<void>();
  #end: End | undefined;
  #calls = 0;
  #open = 0;
  #output = 0;

  constructor(options: QuickJSRunOptions) {
    this.#options = options;
  }

  async execute(): Promise<ExecuteResult> {
    const { clock, limits, signal } = this.#options;
    const over = new AbortController();
    const timer = clock.setTimeout(() => over.abort(), limits.timeoutMs);
    const dropped = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
    dropped.addEventListener("abort", () => this.#changed.resolve(), { once: true });
    try {
      const end = await this.#run(dropped);
      if (end !== undefined) return this.#resultOf(end);
      if (over.signal.aborted) return this.#limited("timeoutMs");
      if (dropped.aborted) return this.#failed("The run was dropped.");
      return this.#failed("The code waits for something that never happens. Await only tools.");
    } catch (error) {
      return this.#limited(error instanceof LimitReached ? error.limit : "memoryBytes");
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** Returns the end of the code. Undefined if it has none. */
  async #run(dropped: AbortSignal): Promise<End | undefined> {
    if (dropped.aborted) return undefined;
    const { clock, code, limits } = this.#options;
    const engine = await openEngine(limits);
    const guest = this.#prepared(engine);
    let spent = stretch(engine, guest, "run", () => [engine.context.newString(withoutFence(code))]);
    while (this.#end === undefined && !dropped.aborted) {
      const settled = this.#settled.shift();
      if (settled === undefined) {
        if (this.#open === 0) return undefined;
        this.#changed = Promise.withResolvers();
        await this.#changed.promise;
      } else if (spent > limits.ticks * FAIR_SHARE) {
        this.#settled.unshift(settled);
        spent = 0;
        await wait(clock, 0);
      } else {
        this.#open -= 1;
        spent += stretch(engine, guest, "settle", () => argumentsOf(engine.context, settled));
      }
    }
    return this.#end;
  }

  /** Makes the side of the code, and returns its functions. */
  #prepared(engine: MeteredEngine): QuickJSHandle {
    const { context } = engine;
    const { clock, connectors, providers, seed } = this.#options;
    const names = JSON.stringify([...providers, ...connectors].map(({ name }) => name));
    let guest: QuickJSHandle = context.undefined;
    engine.enter(() => {
      evaluate(context, steadySource(clock.now(), seed));
      const setUp = evaluate(context, GUEST_SOURCE);
      const list = evaluate(context, `(${names})`);
      guest = context.unwrapResult(context.callFunction(setUp, context.undefined, this.#host(engine), list));
      for (const { prelude } of providers) if (prelude !== undefined) evaluate(context, prelude);
    });
    return guest;
  }

  /** The functions that the side of the code may call. */
  #host(engine: MeteredEngine): QuickJSHandle {
    const { context } = engine;
    const host = context.newObject();
    const offer = (name: string, work: (...args: QuickJSHandle[]) => QuickJSHandle | void): void => {
      const made = context.newFunction(name, (...args: QuickJSHandle[]) =>
        engine.isStopped ? context.undefined : engine.outside(() => work(...args) ?? context.undefined),
      );
      context.setProp(host, name, made);
    };
    const end = (kind: End["kind"], value: QuickJSHandle): void => {
      const isNothing = context.typeof(value) === "undefined";
      const text = isNothing ? undefined : this.#outputOf(engine, value);
      this.#end ??= { kind, text };
      engine.stop();
    };
    offer("call", (...args) => {
      const [name = "", method = "", given = "[]"] = args.map((one) => this.#textOf(engine, one));
      return context.newNumber(this.#call(engine, name, method, given));
    });
    offer("log", (line) => {
      this.#logs.push(this.#outputOf(engine, line));
    });
    offer("done", (json) => end("done", json));
    offer("failed", (words, limit = context.undefined) => {
      const reached = FAILED_LIMITS.get(this.#textOf(engine, limit));
      // Without any memory left there is not even an error.
      if (reached === undefined || (reached === "nothing" && !engine.isFull)) end("failed", words);
      else engine.stop(reached === "nothing" ? "memoryBytes" : reached);
    });
    offer("toBase64", (buffer) => context.newString(toBase64(context.getArrayBuffer(buffer).value)));
    offer("fromBase64", (text) => context.newArrayBuffer(fromBase64(context.getString(text)).buffer));
    return host;
  }

  /** Returns the number of a new call. */
  #call(engine: MeteredEngine, name: string, method: string, args: string): number {
    const id = this.#calls;
    this.#calls += 1;
    if (this.#calls > this.#options.limits.calls) {
      engine.stop("calls");
      return id;
    }
    this.#open += 1;
    void this.#called(name, method, args).then((end) => {
      this.#settled.push({ id, ...end });
      this.#changed.resolve();
    });
    return id;
  }

  async #called(name: string, method: string, given: string): Promise<Omit<Settled, "id">> {
    try {
      const args = fromWire(given) as unknown[];
      const { connectors, providers } = this.#options;
      const connector = connectors.find((one) => one.name === name);
      if (connector !== undefined)
        return { isDone: true, text: toWire(await connector.binding.callTool(method, args[0])) };
      const fns = providers.find((one) => one.name === name)?.fns ?? {};
      const work = Object.hasOwn(fns, method) ? fns[method] : undefined;
      if (work === undefined) return { isDone: false, text: `Tool "${name}.${method}" not found` };
      return { isDone: true, text: toWire(await work(...args)) };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { isDone: false, text: text.slice(0, ERROR_LENGTH) };
    }
  }

  /** Reads a text that counts as output. */
  #outputOf(engine: MeteredEngine, handle: QuickJSHandle): string {
    this.#output += 1 + lengthOf(engine.context, handle);
    if (this.#output > this.#options.limits.outputBytes) engine.stop("outputBytes");
    return this.#output > this.#options.limits.outputBytes ? "" : engine.context.getString(handle);
  }

  #textOf(engine: MeteredEngine, handle: QuickJSHandle): string {
    if (lengthOf(engine.context, handle) <= this.#options.limits.outputBytes)
      return engine.context.getString(handle);
    engine.stop("outputBytes");
    return "";
  }

  #resultOf({ kind, text }: End): ExecuteResult {
    if (kind === "failed") return this.#failed(text ?? "");
    return this.#logged({ result: fromWire(text) });
  }

  #failed(error: string): ExecuteResult {
    return this.#logged({ result: undefined, error: error.slice(0, ERROR_LENGTH) || "The code failed." });
  }

  #limited(limit: SandboxLimit): ExecuteResult {
    return this.#logged({ result: undefined, error: limitError(limit, this.#options.limits), limit });
  }

  #logged(result: ExecuteResult): ExecuteResult {
    return this.#logs.length === 0 ? result : { ...result, logs: this.#logs };
  }
}

/** Runs the code from a call of one of its side's functions until it waits. Returns the steps that it took. */
function stretch(
  engine: MeteredEngine,
  guest: QuickJSHandle,
  name: "run" | "settle",
  args: () => QuickJSHandle[],
): number {
  const { context } = engine;
  return engine.enter(() => {
    const called = context.callFunction(context.getProp(guest, name), guest, ...args());
    if (called.error !== undefined) throw brokenSide(context, called.error);
    // Only the engine itself fails in a job: promises take the errors of code.
    const jobs = context.runtime.executePendingJobs();
    if (jobs.error !== undefined) throw brokenSide(context, jobs.error);
  });
}

/** The side of the code fails only without memory or stack. */
function brokenSide(context: QuickJSContext, error: QuickJSHandle): LimitReached {
  const words = context.getString(context.getProp(error, "message"));
  return new LimitReached(words.includes("stack") ? "stackBytes" : "memoryBytes");
}

/** Models put code between fences of Markdown. */
function withoutFence(code: string): string {
  return /^\s*```\w*\s*\n([\s\S]*?)```\s*$/.exec(code)?.[1] ?? code;
}

function argumentsOf(context: QuickJSContext, { id, isDone, text }: Settled): QuickJSHandle[] {
  const words = text === undefined ? context.undefined : context.newString(text);
  return [context.newNumber(id), isDone ? context.true : context.false, words];
}

function evaluate(context: QuickJSContext, source: string): QuickJSHandle {
  return context.unwrapResult(context.evalCode(source));
}

/** The length of a text. 0 for another value, of which nothing is read. */
function lengthOf(context: QuickJSContext, handle: QuickJSHandle): number {
  return context.typeof(handle) === "string" ? context.getNumber(context.getProp(handle, "length")) : 0;
}
