import { logBotFailure, platformFailureFields } from "../../core/bot-code.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { CommandEntry, MessengerPlatform, PlatformContext } from "../../core/messenger.ts";
import { sha256 } from "../../core/sha256.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootStore } from "./root-store.ts";

export interface CommandMenuOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly store: Pick<RootStore, "menu" | "setMenu">;
  /** What a person can choose from; may throw, as it asks the bot. */
  readonly commands: () => readonly CommandEntry[];
  /** The platform was asked, and has answered or failed. */
  readonly onAsked?: (definition: NormalizedMessengerDefinition, error?: unknown) => void;
}

const CALL_LIMIT_MS = 10_000;
/**
 * Part of what is stored as told. Increased when platforms show the same list in more places, so that bots that are
 * already running tell it again. 2: Telegram's groups.
 */
const MENU_VERSION = 2;
/** A platform that refused the menu is left alone for so long, however often the object starts anew. */
const TRY_AGAIN_MS = 60 * 60_000;

/** Tells each platform which commands the bot has: once for each version of the list, beside everything else. */
export class CommandMenu {
  readonly #options: CommandMenuOptions;
  /** When to look again, of messengers that were looked at since the object was started. */
  readonly #lookAgainAt = new Map<string, number>();

  constructor(options: CommandMenuOptions) {
    this.#options = options;
  }

  /** Whether there may be something to tell. */
  isDue({ id, platform }: NormalizedMessengerDefinition): boolean {
    return platform.setCommands !== undefined && (this.#lookAgainAt.get(id) ?? 0) <= this.#now();
  }

  /** Never throws: a bot without a menu answers all the same. */
  async tell(definition: NormalizedMessengerDefinition, context: PlatformContext): Promise<void> {
    const { commands, deps, log, onAsked, store } = this.#options;
    const { id, platform } = definition;
    this.#lookAgainAt.set(id, Infinity);
    let list: readonly CommandEntry[];
    try {
      list = commands();
    } catch (error) {
      logBotFailure(log, "getCommands", error);
      return;
    }
    try {
      const hash = await hashOf(list, platform);
      const known = store.menu(id);
      if (known?.hash === hash) {
        this.#lookAgainAt.set(id, known.tryAgainAt ?? Infinity);
        if ((known.tryAgainAt ?? Infinity) > this.#now()) return;
      }
      // Until the platform has said that it has it, it counts as refused.
      const tryAgainAt = this.#now() + TRY_AGAIN_MS;
      store.setMenu(id, { hash, tryAgainAt });
      this.#lookAgainAt.set(id, tryAgainAt);
      const limit = new AbortController();
      const timer = deps.clock.setTimeout(() => limit.abort(), CALL_LIMIT_MS);
      try {
        await platform.setCommands?.(list, context, limit.signal);
        onAsked?.(definition);
      } finally {
        deps.clock.clearTimeout(timer);
      }
      store.setMenu(id, { hash, tryAgainAt: undefined });
      this.#lookAgainAt.set(id, Infinity);
    } catch (error) {
      log.warn("menu.not-set", { messenger: id, ...platformFailureFields(log, error) });
      onAsked?.(definition, error);
    }
  }

  #now(): number {
    return this.#options.deps.clock.now();
  }
}

/** A new account has no menu yet, and the same list as the old one. */
async function hashOf(list: readonly CommandEntry[], { account }: MessengerPlatform): Promise<string> {
  const entries = [MENU_VERSION, ...list.map(({ name, description }) => [name, description])];
  return sha256(JSON.stringify(account === undefined ? entries : [await account(), entries]));
}
