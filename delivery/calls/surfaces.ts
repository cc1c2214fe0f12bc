import type { Address, Surface, SurfaceSource } from "../../src/core/chat/surface.ts";

/** The surfaces of the declared messengers. One is created per messenger; it holds only its client. */
export class Surfaces {
  readonly #messengers: SurfaceSource;
  readonly #known = new Map<string, Surface>();

  constructor(messengers: SurfaceSource) {
    this.#messengers = messengers;
  }

  /** Throws if the messenger is not declared. */
  of(messengerId: string): Surface {
    const known = this.#known.get(messengerId);
    if (known !== undefined) return known;
    const surface = this.#messengers.surface(messengerId);
    this.#known.set(messengerId, surface);
    return surface;
  }

  /** Returns `undefined` if the messenger is no longer declared. */
  find({ messengerId }: Pick<Address, "messengerId">): Surface | undefined {
    try {
      return this.of(messengerId);
    } catch {
      // Its replies will end as `failed`.
      return undefined;
    }
  }
}
