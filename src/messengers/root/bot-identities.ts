import { withTimeLimit } from "../../core/time/with-time-limit.ts";
import { platformFailureFields } from "../../core/time/bot-code.ts";
import type { BotIdentity } from "../../core/chat/messenger.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootStore, StoredIdentity } from "./root-store.ts";
import type { PlatformAccess } from "./platform-access.ts";
import type { RootRuntimeOptions } from "./root-parts.ts";

interface BotIdentitiesParts extends RootRuntimeOptions {
  readonly store: RootStore;
  readonly access: PlatformAccess;
}

const CALL_LIMIT_MS = 5000;
const REFRESH_AFTER_MS = 24 * 60 * 60_000;
/** A refresh that failed is tried again after this time. */
const TRY_AGAIN_MS = 60 * 60_000;

/**
 * The bot's identity on each platform.
 *
 * - An identity belongs to the account of the configured token. A stored identity of another token is never used.
 * - It is stored, so that a cold start makes no call.
 * - It is refreshed once a day in the background. Until then the known one is used.
 */
export class BotIdentities {
  readonly #options: BotIdentitiesParts;
  readonly #known = new Map<string, StoredIdentity>();
  readonly #loading = new Map<string, Promise<BotIdentity>>();
  /** Time of the next refresh, for messengers that this process has refreshed. */
  readonly #refreshAt = new Map<string, number>();

  constructor(options: BotIdentitiesParts) {
    this.#options = options;
  }

  /** Returns the bot's identity. Rejects only if none is known and the platform cannot be asked. */
  async of(definition: NormalizedMessengerDefinition): Promise<BotIdentity> {
    const { id } = definition;
    const known = this.#known.get(id);
    if (known !== undefined) {
      this.#refreshIfDue(definition, known);
      return known.identity;
    }
    const loading = this.#loading.get(id) ?? this.#load(definition);
    this.#loading.set(id, loading);
    return loading.finally(() => this.#loading.delete(id));
  }

  async #load(definition: NormalizedMessengerDefinition): Promise<BotIdentity> {
    const account = await accountOf(definition);
    const stored = this.#options.store.identity(definition.id);
    if (stored?.account !== account) return this.#ask(definition, account);
    this.#known.set(definition.id, stored);
    this.#refreshIfDue(definition, stored);
    return stored.identity;
  }

  #refreshIfDue(definition: NormalizedMessengerDefinition, { account, askedAt }: StoredIdentity): void {
    const { deps, later, log } = this.#options;
    const { id } = definition;
    const now = deps.clock.now();
    if (now < Math.max(askedAt + REFRESH_AFTER_MS, this.#refreshAt.get(id) ?? 0)) return;
    this.#refreshAt.set(id, now + TRY_AGAIN_MS);
    later(async () => {
      try {
        await this.#ask(definition, account);
      } catch (error) {
        log.warn("identity.not-refreshed", { messenger: id, ...platformFailureFields(log, error) });
      }
    });
  }

  async #ask(definition: NormalizedMessengerDefinition, account: string): Promise<BotIdentity> {
    const { deps, messengers, store } = this.#options;
    try {
      const identity = await withTimeLimit(deps.clock, CALL_LIMIT_MS, async (signal) =>
        definition.platform.fetchIdentity(messengers.context(definition.id), signal),
      );
      this.#options.access.outcome(definition);
      const asked = { account, identity, askedAt: deps.clock.now() };
      store.setIdentity(definition.id, asked);
      this.#known.set(definition.id, asked);
      return identity;
    } catch (error) {
      this.#options.access.outcome(definition, error);
      throw error;
    }
  }
}

function accountOf({ platform }: NormalizedMessengerDefinition): Promise<string> {
  return platform.account?.() ?? Promise.resolve("");
}
