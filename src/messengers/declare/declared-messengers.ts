import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { BotIdentity, PlatformContext, PlatformPlace } from "../../core/chat/messenger.ts";
import type { Surface } from "../../core/chat/surface.ts";
import type { LeftOutMessenger, NormalizedMessengerDefinition } from "./define-messengers.ts";
import type { ReadMessengers } from "./read-messengers.ts";

export interface DeclaredMessengersOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly root: {
    /** Tells who the bot is on a platform. */
    readonly identity: (messengerId: string) => Promise<BotIdentity>;
    /** Calls the part of a platform at the root, or in the object of a shard. */
    readonly platform: (
      place: PlatformPlace,
      messengerId: string,
      method: string,
      args: readonly unknown[],
    ) => Promise<unknown>;
  };
  readonly read: () => ReadMessengers;
}

/** The messengers that the bot declares, with their surfaces and contexts, as one object uses them. */
export class DeclaredMessengers {
  readonly #options: DeclaredMessengersOptions;
  readonly #contexts = new Map<string, PlatformContext>();

  constructor(options: DeclaredMessengersOptions) {
    this.#options = options;
  }

  all(): readonly NormalizedMessengerDefinition[] {
    return this.#options.read().definitions;
  }

  /** Messengers that lack settings. */
  leftOut(): readonly LeftOutMessenger[] {
    return this.#options.read().leftOut;
  }

  /** Returns a messenger's definition. Undefined if it is not declared, or not any more. */
  find(messengerId: string): NormalizedMessengerDefinition | undefined {
    return this.all().find(({ id }) => id === messengerId);
  }

  /** Returns a messenger's definition. Throws if it is not declared. */
  get(messengerId: string): NormalizedMessengerDefinition {
    const definition = this.find(messengerId);
    if (definition !== undefined) return definition;
    throw new Error(`The messenger "${messengerId}" is not declared`);
  }

  isDeclared(messengerId: string): boolean {
    return this.find(messengerId) !== undefined;
  }

  surface(messengerId: string): Surface {
    return this.get(messengerId).platform.surface(this.context(messengerId));
  }

  context(messengerId: string): PlatformContext {
    const known = this.#contexts.get(messengerId);
    if (known !== undefined) return known;
    const { deps, log, root } = this.#options;
    const context = {
      messengerId,
      deps,
      log: log.with({ messenger: messengerId }),
      identity: () => root.identity(messengerId),
      root: <Calls extends object>(place: PlatformPlace = {}) =>
        new Proxy({} as Calls, {
          get: (_target, method) =>
            typeof method === "string"
              ? (...args: unknown[]) => root.platform(place, messengerId, method, args)
              : undefined,
        }),
    };
    this.#contexts.set(messengerId, context);
    return context;
  }
}
