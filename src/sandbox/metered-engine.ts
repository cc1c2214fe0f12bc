import loadModule from "@jitl/quickjs-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-wasmfile-release-sync/ffi";
import { QuickJSWASMModule } from "quickjs-emscripten-core";
import type { QuickJSContext } from "quickjs-emscripten-core";
import type { SandboxLimit } from "./executor.ts";
import wasm from "./quickjs.wasm";
import { FIRST_PAGES, PAGE_BYTES } from "./sandbox-limits.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";

/** A run cannot go on: it has reached a limit. */
export class LimitReached extends Error {
  readonly limit: SandboxLimit;

  constructor(limit: SandboxLimit) {
    super(`The limit ${limit} is reached.`);
    this.name = "LimitReached";
    this.limit = limit;
  }
}

/** Enough steps for anything that the host does. */
const PLENTY = 0x7fffffff;
/** Steps in which a call of the host returns to the engine after `stop`. */
const REST = 1_000;

/**
 * One instance of QuickJS with memory of its own, for one run. It is never reused and never cleared: after a trap it
 * cannot be, and all of it is garbage after the run.
 *
 * 1. The code takes steps only inside `enter`. Below zero the machine traps, which no code inside can catch.
 * 2. After `stop` it has a few steps left, in which it reaches the host no more.
 */
export class MeteredEngine {
  readonly context: QuickJSContext;
  readonly #limits: Required<SandboxLimits>;
  readonly #memory: WebAssembly.Memory;
  readonly #steps: WebAssembly.Global;
  #isStopped = false;
  #reached: SandboxLimit | undefined;

  constructor(
    context: QuickJSContext,
    limits: Required<SandboxLimits>,
    memory: WebAssembly.Memory,
    steps: WebAssembly.Global,
  ) {
    this.context = context;
    this.#limits = limits;
    this.#memory = memory;
    this.#steps = steps;
  }

  /**
   * Runs something inside. Returns the steps that it took.
   *
   * @throws {LimitReached} unless it was stopped without a limit
   */
  enter(work: () => void): number {
    this.#steps.value = this.#isStopped ? -1 : this.#limits.ticks;
    try {
      work();
    } catch (error) {
      if (!this.#isStopped) throw new LimitReached(this.#limitOf(error));
    }
    if (this.#reached !== undefined) throw new LimitReached(this.#reached);
    return this.#limits.ticks - Math.max(0, this.#steps.value);
  }

  /** Runs a function of the host that the code has called. It takes no steps. */
  outside<Result>(work: () => Result): Result {
    const left = Number(this.#steps.value);
    this.#steps.value = PLENTY;
    try {
      return work();
    } finally {
      this.#steps.value = this.#isStopped ? Math.min(left, REST) : left;
    }
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends the code within its next steps. */
  stop(reached?: SandboxLimit): void {
    this.#isStopped = true;
    this.#reached ??= reached;
  }

  /** Whether nearly all memory was taken at some time. It grows by a twentieth at least. */
  get isFull(): boolean {
    return this.#memory.buffer.byteLength > this.#limits.memoryBytes * 0.9;
  }

  #limitOf(error: unknown): SandboxLimit {
    if (error instanceof LimitReached) return error.limit;
    if (this.#steps.value < 0) return "ticks";
    // The engine itself overflows the stack of the host in deeply nested code.
    return error instanceof RangeError && !this.isFull ? "stackBytes" : "memoryBytes";
  }
}

/**
 * Opens an engine. The package's own way imports its modules at each call, and an object that dies meanwhile could leave
 * the import open for all others.
 */
export async function openEngine(limits: Required<SandboxLimits>): Promise<MeteredEngine> {
  const maximum = Math.floor(limits.memoryBytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
  let steps: WebAssembly.Global | undefined;
  const instantiateWasm = (
    imports: WebAssembly.Imports,
    onSuccess: (instance: WebAssembly.Instance) => void,
  ): WebAssembly.Exports => {
    const instance = new WebAssembly.Instance(wasm, imports);
    steps = instance.exports.steps as WebAssembly.Global;
    onSuccess(instance);
    return instance.exports;
  };
  const module = await loadModule({ wasmMemory: memory, instantiateWasm });
  module.type = "sync";
  if (steps === undefined) throw new Error("The engine has no meter. Make it again with npm run meter.");
  const runtime = new QuickJSWASMModule(module, new QuickJSFFI(module)).newRuntime();
  runtime.setMaxStackSize(limits.stackBytes);
  return new MeteredEngine(runtime.newContext(), limits, memory, steps);
}
