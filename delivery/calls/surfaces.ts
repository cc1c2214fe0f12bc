import type { Address, Surface } from "../../src/core/surface.ts";

/** The surfaces of the declared messengers. They hold nothing but their client; one for each messenger is made. */
export class Surfaces {
  readonly #surfaceFor: (messengerId: string) => Surface;
  readonly #known = new Map<string, Surface>();

  constructor(surfaceFor: (messengerId: string) => Surface) {
    this.#surfaceFor = surfaceFor;
  }

  /** Throws for a messenger that is not declared. */
  of(messengerId: string): Surface {
    const known = this.#known.get(messengerId);
    if (known !== undefined) return known;
    const surface = this.#surfaceFor(messengerId);
    this.#known.set(messengerId, surface);
    return surface;
  }

  /** `undefined` for a messenger that is not declared any more. */
  find({ messengerId }: Pick<Address, "messengerId">): Surface | undefined {
    try {
      return this.of(messengerId);
    } catch {
      // Its replies will end for that.
      return undefined;
    }
  }
}
