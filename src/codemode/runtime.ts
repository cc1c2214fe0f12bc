import { tool } from "ai";
import type { Tool } from "ai";
import { z } from "zod";
import { checkOptions, isFunction, isObject, listOf, POSITIVE, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import type { Executor } from "../sandbox/executor.ts";
import { createQuickJSExecutor } from "../sandbox/quickjs-executor.ts";
import { codeObject, featureOf } from "./bot-objects.ts";
import type { CodeObject } from "./bot-objects.ts";
import type { CodeRun } from "./code-store.ts";
import { CodemodeConnector } from "./connector.ts";
import { executionOf, outputOf, pendingOf } from "./outcomes.ts";
import type { ExecutionState, PendingAction, ProxyToolOutput, RolledBack } from "./outcomes.ts";
import { ConnectedRuntime } from "./connected-runtime.ts";

export interface CodemodeRuntimeOptions {
  /** `this.ctx` of the bot. */
  readonly ctx: object;
  /** The tools that the code can call. */
  readonly connectors: readonly CodemodeConnector[];
  /** Runs the code. @default `createQuickJSExecutor()` */
  readonly executor?: Executor;
  /** Time after which code lets its place go while a tool works, in milliseconds. It runs again later. @default 5000 */
  readonly slowAfterMs?: number;
  /** Tells several runtimes of one bot apart. @default "codemode" */
  readonly name?: string;
}

const OPTIONS: OptionRules<CodemodeRuntimeOptions> = {
  ctx: ["this.ctx of the bot", isObject],
  connectors: listOf("a list of connectors", (one) => one instanceof CodemodeConnector),
  executor: ["an executor", (one) => isObject(one) && isFunction(Reflect.get(one, "execute"))],
  slowAfterMs: POSITIVE,
  name: TEXT,
};

const MOST_LISTED = 1_000;

/**
 * Code of the model in one conversation: the tool that runs it, and its runs. A run that needs a person's consent pauses,
 * shows the card that actions have, and goes on when somebody has agreed.
 */
export interface CodemodeRuntime {
  /** The tool for `getTools()`. Its output is a `ProxyToolOutput`. */
  tool(): Tool<{ code: string }, ProxyToolOutput>;
  /** Returns the calls that wait for people: of all runs, or of one. */
  pending(executionId?: string): Promise<PendingAction[]>;
  /**
   * Agrees to the waiting calls of a run. Resolves with its end, or with its next waiting calls. A run that is not paused
   * stays as it is, and `status` is `"error"`. Nobody is asked whether the caller may decide: check that yourself.
   */
  approve(decision: { readonly executionId: string }): Promise<ProxyToolOutput>;
  /**
   * Refuses a waiting call, which ends its run. Earlier calls stay: see `rollback`. Returns `false` if it did not wait.
   */
  reject(decision: { readonly seq: number; readonly executionId: string }): Promise<boolean>;
  /**
   * Undoes the calls of a run that has ended, the newest first, as far as their tools have a `revert`. Returns what became
   * of each.
   */
  rollback(run: { readonly executionId: string }): Promise<RolledBack[]>;
  /** Returns the newest runs with their logs. They are kept for a year. @param limit at most 1000. @default 100 */
  executions(limit?: number): Promise<ExecutionState[]>;
}

/**
 * Makes the runtime for code of the model. The bot's class needs `static override codemode = codemode()`.
 *
 * @throws {ConfigurationError} `codemode-option`
 * @example
 * getTools() {
 *   const connectors = [new GithubConnector(this.ctx, this.env)];
 *   return { codemode: createCodemodeRuntime({ ctx: this.ctx, connectors }).tool() };
 * }
 */
export function createCodemodeRuntime(options: CodemodeRuntimeOptions): CodemodeRuntime {
  checkOptions(options, OPTIONS, { owner: "createCodemodeRuntime", code: "codemode-option" });
  const {
    connectors,
    ctx,
    executor = createQuickJSExecutor(),
    name = "codemode",
    slowAfterMs = 5_000,
  } = options;
  const object = codeObject(ctx);
  const runtime = new ConnectedRuntime({
    name,
    executor,
    connectors,
    slowAfterMs,
    log: () => object.feature,
    earlier: object.runtimes.get(name),
  });
  object.runtimes.set(name, runtime);
  return new BotRuntime(object, runtime);
}

const inputSchema = z.object({
  code: z.string().describe("JavaScript: an async arrow function that returns the result."),
});

const HOW = `Runs JavaScript that calls tools, several in one run: async () => { ... return result; }.
Return only what you need. There is no network, timer or import. await each call; a call that fails throws.
If a call needs a person's consent, the run pauses by itself and goes on later: write the code as if it returned.`;

class BotRuntime implements CodemodeRuntime {
  readonly #object: CodeObject;
  readonly #runtime: ConnectedRuntime;

  constructor(object: CodeObject, runtime: ConnectedRuntime) {
    this.#object = object;
    this.#runtime = runtime;
  }

  tool(): Tool<{ code: string }, ProxyToolOutput> {
    const made = tool({
      description: `${HOW}\n\n${this.#runtime.types()}`,
      inputSchema,
      execute: ({ code }: { readonly code: string }, { abortSignal, toolCallId }): Promise<ProxyToolOutput> =>
        featureOf(this.#object).runs.begin({
          runtime: this.#runtime.name,
          code,
          requestId: getTurn()?.id ?? "",
          toolCallId,
          signal: abortSignal,
        }),
    });
    // The run knows what it has done.
    return Object.assign(made, { recovery: "rerun" });
  }

  async pending(executionId?: string): Promise<PendingAction[]> {
    const { store } = featureOf(this.#object);
    const paused = store.open().filter(({ state }) => state === "paused");
    return paused
      .filter(({ id }) => executionId === undefined || id === executionId)
      .toReversed()
      .flatMap((run) => pendingOf(run, store.calls(run.id)));
  }

  async approve({ executionId }: { readonly executionId: string }): Promise<ProxyToolOutput> {
    const feature = featureOf(this.#object);
    const { store } = feature;
    const run = store.get(executionId);
    if (run?.state !== "paused") return notPaused(executionId, run);
    const moved = feature.runs.moved(executionId);
    const decided = await feature.runs.decide(run, "approve");
    if (decided === 0) {
      const now = store.get(executionId);
      return now?.state === "paused" ? outputOf(now, store.calls(executionId)) : notPaused(executionId, now);
    }
    await moved;
    const now = store.get(executionId);
    return now === undefined ? notPaused(executionId, now) : outputOf(now, store.calls(executionId));
  }

  async reject({
    executionId,
    seq,
  }: {
    readonly seq: number;
    readonly executionId: string;
  }): Promise<boolean> {
    const feature = featureOf(this.#object);
    const run = feature.store.get(executionId);
    if (run?.state !== "paused") return false;
    const moved = feature.runs.moved(executionId);
    if ((await feature.runs.decide(run, "reject", seq)) === 0) return false;
    await moved;
    return feature.store.get(executionId)?.state === "rejected";
  }

  async rollback({ executionId }: { readonly executionId: string }): Promise<RolledBack[]> {
    const feature = featureOf(this.#object);
    const run = feature.store.get(executionId);
    if (run?.endedAt === undefined) return [];
    await feature.loadActions();
    return feature.rollback.run(run);
  }

  async executions(limit = 100): Promise<ExecutionState[]> {
    const { store } = featureOf(this.#object);
    return store
      .newest(this.#runtime.name, Math.min(limit, MOST_LISTED))
      .map((run) => executionOf(run, store.calls(run.id)));
  }
}

function notPaused(executionId: string, run: CodeRun | undefined): ProxyToolOutput {
  const status = run === undefined ? "it does not exist" : `status: ${run.state}`;
  return {
    status: "error",
    executionId,
    error: `This run is not paused (${status}). Nothing was changed.`,
  };
}
