import { withTimeLimit } from "../../core/time/with-time-limit.ts";
import { logBotFailure, platformFailureFields } from "../../core/time/bot-code.ts";
import type { Deps } from "../../core/base/deps.ts";
import { languagesOf } from "../../core/text/local-text.ts";
import type { Log } from "../../core/base/log.ts";
import type { CommandEntry, MessengerPlatform, PlatformContext } from "../../core/chat/messenger.ts";
import { sha256 } from "../../core/bytes/sha256.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootStore } from "./root-store.ts";

export interface CommandMenuOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly store: Pick<RootStore, "menu" | "setMenu">;
  /** Returns the commands for the menu. May throw, because it calls the bot's code. */
  readonly commands: () => readonly CommandEntry[];
  /** Called after the platform has answered, with the error if it failed. */
  readonly onAsked?: (definition: NormalizedMessengerDefinition, error?: unknown) => void;
}

const CALL_LIMIT_MS = 10_000;
/**
 * Part of the stored hash. Increase it if platforms show the same list in more places, so that running bots send it
 * again. 2: Telegram's groups.
 */
const MENU_VERSION = 2;
/** After a refusal, the platform gets the menu again after this time, however often the object restarts. */
const TRY_AGAIN_MS = 60 * 60_000;

/** Sends the bot's list of commands to each platform, once for each version of the list, in the background. */
export class CommandMenu {
  readonly #options: CommandMenuOptions;
  /** Time of the next check, for messengers that this process has checked. */
  readonly #lookAgainAt = new Map<string, number>();

  constructor(options: CommandMenuOptions) {
    this.#options = options;
  }

  /** Tells whether the menu may have to be sent. */
  isDue({ id, platform }: NormalizedMessengerDefinition): boolean {
    return platform.setCommands !== undefined && (this.#lookAgainAt.get(id) ?? 0) <= this.#now();
  }

  /** Sends the menu if it is new. Never throws, because a bot without a menu can still answer. */
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
      // Until the platform confirms it, the menu counts as refused.
      const tryAgainAt = this.#now() + TRY_AGAIN_MS;
      const languages = [...new Set(list.flatMap(({ description }) => languagesOf(description)))];
      const former = known?.languages.filter((language) => !languages.includes(language)) ?? [];
      store.setMenu(id, { hash, tryAgainAt, languages: [...languages, ...former] });
      this.#lookAgainAt.set(id, tryAgainAt);
      await withTimeLimit(deps.clock, CALL_LIMIT_MS, async (signal) =>
        platform.setCommands?.(list, context, signal, former),
      );
      onAsked?.(definition);
      store.setMenu(id, { hash, tryAgainAt: undefined, languages });
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

/** Returns the hash of a list and an account. A new account has the same list as the old one, but no menu yet. */
async function hashOf(list: readonly CommandEntry[], { account }: MessengerPlatform): Promise<string> {
  const entries = [MENU_VERSION, ...list.map(({ name, description }) => [name, description])];
  return sha256(JSON.stringify(account === undefined ? entries : [await account(), entries]));
}
