import type { Json } from "../core/message/content.ts";
import type { Clock } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { Executor } from "../sandbox/index.ts";
import type { ThinkHooks, TurnConfig, TurnContext } from "../turn/hooks.ts";
import type { ExtensionHook } from "./extension-config.ts";
import { canWrite, ExtensionHost, hasHost } from "./extension-host.ts";
import type { ReachableParts } from "./extension-host.ts";
import { ExtensionFailure, runTask } from "./loaded-extension.ts";
import type { LoadedExtension } from "./loaded-extension.ts";
import {
  callSnapshot,
  chunkSnapshot,
  joinedChunk,
  resultSnapshot,
  stepSnapshot,
  turnSnapshot,
} from "./snapshots.ts";
import { z } from "zod";
import type { TurnChange } from "./extension-api.ts";

const schema = z.strictObject({
  system: z.string().min(1).max(100_000).optional(),
  activeTools: z.array(z.string().max(128)).max(256).optional(),
  toolChoice: z.enum(["auto", "none"]).optional(),
  maxSteps: z.int().min(1).max(1000).optional(),
  sendReasoning: z.literal(false).optional(),
});

export interface ExtensionHooksOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly executor: Executor;
  readonly parts: ReachableParts;
  readonly extensions: () => readonly LoadedExtension[];
  /** Most model calls of a turn. */
  readonly maxSteps: () => number;
  /** No hook runs or waits any more. */
  readonly onIdle: () => void;
}

/** Time limit of one run of a hook, and of all that a turn waits for before it begins. */
export const HOOK_MS = 5_000;
const BEFORE_TURN_MS = 10_000;
/** Most hooks that wait. Further ones do not run. */
const MOST_WAITING = 100;
/** An extension whose hooks have failed so often, one after the other, rests. */
const MOST_FAILURES = 3;
const REST_MS = 60_000;

/** A run of a hook that has not begun. */
interface WaitingHook {
  readonly hook: ExtensionHook;
  snapshot: Json;
}

/**
 * The hooks of extensions, after those of the bot's class, in the order in which the extensions are declared.
 *
 * 1. A turn waits only for `beforeTurn`, and not for long. All other hooks watch: they run one after the other, beside
 *    the turn, and nothing that they return counts.
 * 2. Whatever a hook does, the turn goes on as if it had returned nothing. The log has a line.
 * 3. A run has a fresh sandbox, so pieces of an answer that wait are joined: a fast stream costs few runs.
 */
export class ExtensionHooks {
  readonly #options: ExtensionHooksOptions;
  readonly #failures = new Map<string, number>();
  readonly #restUntil = new Map<string, number>();
  #chain: Promise<void> = Promise.resolve();
  /** The newest waiting run of each extension. */
  readonly #newest = new Map<string, WaitingHook>();
  #waiting = 0;
  #isFull = false;

  constructor(options: ExtensionHooksOptions) {
    this.#options = options;
  }

  isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Adds the hooks of the extensions to those of the bot. */
  wrap(own: Partial<ThinkHooks>): Partial<ThinkHooks> {
    const { extensions } = this.#options;
    const has = (hook: ExtensionHook): boolean => extensions().some(({ hooks }) => hooks.includes(hook));
    return {
      ...own,
      ...(has("beforeTurn") && {
        beforeTurn: async (context) => this.#beforeTurn(context, (await own.beforeTurn?.(context)) ?? {}),
      }),
      ...(has("beforeToolCall") && {
        beforeToolCall: (call) => {
          this.#watch("beforeToolCall", callSnapshot(call));
          return own.beforeToolCall?.(call);
        },
      }),
      ...(has("afterToolCall") && {
        afterToolCall: (call) => {
          this.#watch("afterToolCall", resultSnapshot(call));
          return own.afterToolCall?.(call);
        },
      }),
      ...(has("onStepFinish") && {
        onStepFinish: (step) => {
          this.#watch("onStepFinish", stepSnapshot(step));
          return own.onStepFinish?.(step);
        },
      }),
      ...(has("onChunk") && {
        onChunk: (context) => {
          this.#watch("onChunk", chunkSnapshot(context));
          return own.onChunk?.(context);
        },
      }),
    };
  }

  async #beforeTurn(context: TurnContext, own: TurnConfig): Promise<TurnConfig> {
    const { clock, maxSteps } = this.#options;
    const until = clock.now() + BEFORE_TURN_MS;
    const turn = { tools: Object.keys({ ...context.tools, ...own.tools }), maxSteps: maxSteps() };
    let config = own;
    for (const extension of this.#having("beforeTurn")) {
      const left = until - clock.now();
      if (left <= 0) break;
      const snapshot = turnSnapshot({ ...context, system: config.system ?? context.system });
      const change = await this.#run(extension, "beforeTurn", snapshot, Math.min(left, HOOK_MS));
      if (change !== undefined) config = withTurnChange(config, change, turn);
    }
    return config;
  }

  #having(hook: ExtensionHook): readonly LoadedExtension[] {
    return this.#options.extensions().filter(({ hooks }) => hooks.includes(hook));
  }

  #watch(hook: ExtensionHook, snapshot: Json): void {
    for (const extension of this.#having(hook)) {
      const { name } = extension.manifest;
      const newest = this.#newest.get(name);
      const joined = newest?.hook === hook ? joinedChunk(newest.snapshot, snapshot) : undefined;
      if (newest !== undefined && joined !== undefined) {
        newest.snapshot = joined;
        continue;
      }
      if (this.#waiting >= MOST_WAITING) {
        if (!this.#isFull) this.#log(extension, hook, "too-many");
        this.#isFull = true;
        return;
      }
      this.#waiting += 1;
      const waiting: WaitingHook = { hook, snapshot };
      this.#newest.set(name, waiting);
      this.#chain = this.#chain.then(async () => {
        if (this.#newest.get(name) === waiting) this.#newest.delete(name);
        await this.#run(extension, hook, waiting.snapshot, HOOK_MS);
        this.#waiting -= 1;
        if (this.#waiting > 0) return;
        this.#isFull = false;
        this.#options.onIdle();
      });
    }
  }

  /** Runs a hook. Returns its changes to the turn; undefined if it has failed. Never throws. */
  async #run(
    extension: LoadedExtension,
    hook: ExtensionHook,
    input: Json,
    limitMs: number,
  ): Promise<ReturnType<typeof readTurnChange>> {
    const { clock, executor, parts } = this.#options;
    const { manifest, source } = extension;
    const { name } = manifest;
    if ((this.#restUntil.get(name) ?? 0) > clock.now()) return undefined;
    const drop = new AbortController();
    try {
      const host = new ExtensionHost({ manifest, parts, signal: drop.signal, mayFetch: false });
      const task = { kind: "hook", name: hook, input, hasHost: hasHost(manifest) } as const;
      const run = async (): Promise<unknown> => {
        const returned = await runTask(executor, source, task, { host, signal: drop.signal });
        await host.apply(host.changes);
        return returned;
      };
      const within = (work: Promise<unknown>): Promise<unknown> =>
        withinTime(clock, limitMs, work, `${hook} of an extension`);
      const inOrder = (work: () => Promise<unknown>): Promise<unknown> =>
        canWrite(manifest) ? parts.changing.run(drop.signal, work) : work();
      // A turn does not wait for long runs of tools. The other hooks can.
      const returned = await (hook === "beforeTurn" ? within(inOrder(run)) : inOrder(() => within(run())));
      this.#failures.delete(name);
      if (hook !== "beforeTurn") return undefined;
      const change = readTurnChange(returned);
      if (change === undefined) this.#log(extension, hook, "result");
      return change;
    } catch (error) {
      drop.abort();
      this.#failed(extension, hook, error);
      return undefined;
    }
  }

  #failed(extension: LoadedExtension, hook: ExtensionHook, error: unknown): void {
    const { clock } = this.#options;
    const { name } = extension.manifest;
    const code = error instanceof ExtensionFailure ? (error.limit ?? "thrown") : failureCode(error);
    this.#log(extension, hook, code, error instanceof Error ? error.message : undefined);
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    if (failures < MOST_FAILURES) return;
    this.#failures.delete(name);
    this.#restUntil.set(name, clock.now() + REST_MS);
  }

  #log({ manifest }: LoadedExtension, hook: ExtensionHook, code: string, words?: string): void {
    const { log } = this.#options;
    const message = words === undefined ? undefined : log.reveal(words);
    log.warn("extension.hook-failed", { extension: manifest.name, hook, code, message });
  }
}

/** Returns the changes. Undefined for anything else that a hook has returned. */
function readTurnChange(returned: unknown): TurnChange | undefined {
  return schema.safeParse(returned ?? {}).data;
}

/** Applies changes to the settings of a turn: the newest prompt counts, tools and steps only become fewer. */
function withTurnChange(
  config: TurnConfig,
  { activeTools, maxSteps, system, ...change }: TurnChange,
  turn: { readonly tools: readonly string[]; readonly maxSteps: number },
): TurnConfig {
  const offered = config.activeTools ?? turn.tools;
  return {
    ...config,
    ...change,
    ...(system !== undefined && { system }),
    ...(activeTools !== undefined && { activeTools: offered.filter((name) => activeTools.includes(name)) }),
    ...(maxSteps !== undefined && { maxSteps: Math.min(maxSteps, config.maxSteps ?? turn.maxSteps) }),
  };
}
