import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { PlatformContext } from "../../core/messenger.ts";
import type { Surface } from "../../core/surface.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { RootLink } from "../root/root-link.ts";

export interface DeclaredMessengersOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly root: Pick<RootLink, "identity">;
  readonly definitions: () => readonly NormalizedMessengerDefinition[];
}

/** The messengers that the bot declares, as one conversation uses them. */
export class DeclaredMessengers {
  readonly #options: DeclaredMessengersOptions;
  readonly #contexts = new Map<string, PlatformContext>();

  constructor(options: DeclaredMessengersOptions) {
    this.#options = options;
  }

  find(messengerId: string): NormalizedMessengerDefinition | undefined {
    return this.#options.definitions().find(({ id }) => id === messengerId);
  }

  get(messengerId: string): NormalizedMessengerDefinition {
    const definition = this.find(messengerId);
    if (definition !== undefined) return definition;
    throw new Error(`The messenger "${messengerId}" is not declared`);
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
    };
    this.#contexts.set(messengerId, context);
    return context;
  }
}
