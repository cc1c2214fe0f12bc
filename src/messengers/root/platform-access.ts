import type { Deps } from "../../core/deps.ts";
import type { PlatformContext } from "../../core/messenger.ts";
import type { HealthProblem } from "./health-problem.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootStore } from "./root-store.ts";

export interface PlatformAccessOptions {
  readonly deps: Deps;
  readonly store: Pick<RootStore, "refusal" | "setRefusal" | "clearRefusal">;
  readonly context: (definition: NormalizedMessengerDefinition) => PlatformContext;
}

/** A platform is asked about a refusal this often at most, and only when somebody asks for `/health`. */
const ASK_EVERY_MS = 30_000;
const CALL_LIMIT_MS = 5_000;
/** Calls that are refused are made again each minute: a refusal that nothing repeats is over. */
const REFUSAL_COUNTS_MS = 5 * 60_000;

/**
 * Whether the platforms take the bot's credentials, as far as its calls have shown. Refusals are stored, because an
 * object without work is taken from memory; one is over when a call works again, or the platform says so.
 */
export class PlatformAccess {
  readonly #options: PlatformAccessOptions;
  readonly #askedAt = new Map<string, number>();

  constructor(options: PlatformAccessOptions) {
    this.#options = options;
  }

  /** A call was refused for the credentials with which it was made. */
  refused(messengerId: string, code: string): void {
    this.#options.store.setRefusal(messengerId, { code, at: this.#now() });
  }

  works(messengerId: string): void {
    const { store } = this.#options;
    if (store.refusal(messengerId) !== undefined) store.clearRefusal(messengerId);
  }

  /** A call of the root's own has failed with this error, or worked. */
  outcome(definition: NormalizedMessengerDefinition, error?: unknown): void {
    if (error === undefined) return this.works(definition.id);
    const code = this.#refusalIn(definition, error);
    if (code !== undefined) this.refused(definition.id, code);
  }

  async problem(definitions: readonly NormalizedMessengerDefinition[]): Promise<HealthProblem | undefined> {
    for (const definition of definitions) {
      const refusal = this.#options.store.refusal(definition.id);
      if (refusal === undefined || (await this.#isOver(definition, refusal.at))) continue;
      return {
        status: "misconfigured",
        code: refusal.code,
        message: `The platform refuses the calls of the messenger "${definition.id}" (${refusal.code}). Check its token, or its other credentials, and the address of its API.`,
      };
    }
    return undefined;
  }

  async #isOver(definition: NormalizedMessengerDefinition, at: number): Promise<boolean> {
    const { context, deps } = this.#options;
    const { id, platform } = definition;
    if (platform.checkAccess === undefined) {
      if (this.#now() - at >= REFUSAL_COUNTS_MS) this.works(id);
    } else if (this.#now() - (this.#askedAt.get(id) ?? -Infinity) >= ASK_EVERY_MS) {
      this.#askedAt.set(id, this.#now());
      const limit = new AbortController();
      const timer = deps.clock.setTimeout(() => limit.abort(), CALL_LIMIT_MS);
      try {
        await platform.checkAccess(context(definition), limit.signal);
        this.works(id);
      } catch (error) {
        // A platform that cannot be reached says nothing about the token.
        this.outcome(definition, error);
      } finally {
        deps.clock.clearTimeout(timer);
      }
    }
    return this.#options.store.refusal(id) === undefined;
  }

  #refusalIn(definition: NormalizedMessengerDefinition, error: unknown): string | undefined {
    const failure = definition.platform.surface(this.#options.context(definition)).classifyError(error);
    return failure.kind === "misconfigured" ? failure.code : undefined;
  }

  #now(): number {
    return this.#options.deps.clock.now();
  }
}
