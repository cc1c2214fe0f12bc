import { withTimeLimit } from "../../core/time/with-time-limit.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { HealthProblem } from "./health/health-problem.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootStore } from "./root-store.ts";

export interface PlatformAccessOptions {
  readonly deps: Deps;
  readonly store: Pick<RootStore, "refusal" | "setRefusal" | "clearRefusal">;
  readonly messengers: Pick<DeclaredMessengers, "context">;
}

/** A platform is asked about a refusal at most this often, and only on a request to `/health`. */
const ASK_EVERY_MS = 30_000;
const CALL_LIMIT_MS = 5_000;
/** Refused calls are repeated every minute, so a refusal without a repetition for this long is over. */
const REFUSAL_COUNTS_MS = 5 * 60_000;

/**
 * Tracks from the bot's calls whether the platforms accept its credentials. Refusals are stored, because an idle object
 * is removed from memory. A refusal ends when a call works again, or the platform says so.
 */
export class PlatformAccess {
  readonly #options: PlatformAccessOptions;
  readonly #askedAt = new Map<string, number>();

  constructor(options: PlatformAccessOptions) {
    this.#options = options;
  }

  /** Notes a call that was refused because of its credentials. */
  refused(messengerId: string, code: string): void {
    this.#options.store.setRefusal(messengerId, { code, at: this.#now() });
  }

  works(messengerId: string): void {
    const { store } = this.#options;
    if (store.refusal(messengerId) !== undefined) store.clearRefusal(messengerId);
  }

  /** Notes the outcome of the root's own call: an error, or success. */
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
    const { deps, messengers } = this.#options;
    const { id, platform } = definition;
    if (platform.checkAccess === undefined) {
      if (this.#now() - at >= REFUSAL_COUNTS_MS) this.works(id);
    } else if (this.#now() - (this.#askedAt.get(id) ?? -Infinity) >= ASK_EVERY_MS) {
      this.#askedAt.set(id, this.#now());
      try {
        await withTimeLimit(deps.clock, CALL_LIMIT_MS, async (signal) =>
          platform.checkAccess?.(messengers.context(definition.id), signal),
        );
        this.works(id);
      } catch (error) {
        // An unreachable platform says nothing about the token.
        this.outcome(definition, error);
      }
    }
    return this.#options.store.refusal(id) === undefined;
  }

  #refusalIn(definition: NormalizedMessengerDefinition, error: unknown): string | undefined {
    const failure = definition.platform
      .surface(this.#options.messengers.context(definition.id))
      .classifyError(error);
    return failure.kind === "misconfigured" ? failure.code : undefined;
  }

  #now(): number {
    return this.#options.deps.clock.now();
  }
}
