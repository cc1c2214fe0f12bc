import { BOT_CODE_LIMIT_MS, logBotFailure } from "../core/time/bot-code.ts";
import { isThenable } from "../core/base/is-thenable.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { ThinkHooks } from "./hooks.ts";
import type { TurnEngineOptions } from "./turn-engine-options.ts";

/** The return value of a hook, or its failure. */
export type HookResult<T> = { readonly ok: true; readonly value: T | undefined } | { readonly ok: false };

/** Calls the bot's hooks. Their exceptions are logged and never passed on. */
export class TurnHooks {
  readonly #options: TurnEngineOptions;
  /** Turns whose `onChunk` has failed. It is called for each word, so only the first failure is logged. */
  readonly #failedChunks = new Set<string>();

  constructor(options: TurnEngineOptions) {
    this.#options = options;
  }

  has(name: keyof ThinkHooks): boolean {
    return this.#options.hooks()[name] !== undefined;
  }

  turnInfo(operationId: string): TurnInfo | undefined {
    return this.#options.turnInfo(operationId);
  }

  /** Calls a hook, if the bot has it. */
  async run<Name extends keyof ThinkHooks>(
    operationId: string,
    name: Name,
    ...args: Parameters<ThinkHooks[Name]>
  ): Promise<HookResult<Awaited<ReturnType<ThinkHooks[Name]>>>> {
    type Result = Awaited<ReturnType<ThinkHooks[Name]>>;
    const { clock, hooks, inTurn, logOf } = this.#options;
    try {
      const hook = hooks()[name] as ((...given: unknown[]) => Result | Promise<Result>) | undefined;
      if (hook === undefined) return { ok: true, value: undefined };
      const work = inTurn(operationId, () => hook(...args));
      return { ok: true, value: await withinTime(clock, BOT_CODE_LIMIT_MS, work, `${name}()`) };
    } catch (error) {
      logBotFailure(logOf(operationId), name, error);
      return { ok: false };
    }
  }

  /** Calls `onChunk` without waiting for it. */
  chunk(operationId: string, context: Parameters<ThinkHooks["onChunk"]>[0]): void {
    const { hooks, inTurn, logOf } = this.#options;
    const failed = (error: unknown): void => {
      if (this.#failedChunks.has(operationId)) return;
      this.#failedChunks.add(operationId);
      logBotFailure(logOf(operationId), "onChunk", error);
    };
    try {
      const work: unknown = inTurn(operationId, () => hooks().onChunk?.(context));
      if (isThenable(work)) Promise.resolve(work).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Logs a failure of code that a hook returned. */
  failed(operationId: string, name: string, error: unknown): void {
    logBotFailure(this.#options.logOf(operationId), name, error);
  }

  /** Forgets an ended turn. */
  forget(operationId: string): void {
    this.#failedChunks.delete(operationId);
  }
}
