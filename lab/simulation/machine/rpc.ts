import { Crash } from "./life.ts";
import type { Life } from "./life.ts";
import type { Random } from "../../support/random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Another object cannot be reached, or died during the call. */
export class Unreachable extends Error {
  override readonly name = "object-unreachable";
}

/** Longest travel time of a call between two objects, one way, in milliseconds. */
export const RPC_MS = 12;

export interface Wire {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly isDown: () => boolean;
}

/** Makes a call from one object to another. It takes time both ways, and fails if either side dies. */
export function callOver<Value>(
  { isDown, random, scheduler }: Wire,
  caller: Life,
  name: string,
  work: () => Promise<Value>,
): Promise<Value> {
  caller.boundary(`before ${name}`);
  return new Promise<Value>((resolve, reject) => {
    const back = (settle: () => void): void => {
      const answer = (): void => {
        if (!caller.isDead) settle();
      };
      if (random.chance(0.7)) answer();
      else scheduler.after(random.int(1, RPC_MS / 2), answer);
    };
    const there = (): void => {
      if (caller.isDead) return;
      if (isDown()) {
        back(() => reject(new Unreachable("down")));
        return;
      }
      work().then(
        (value) => back(() => resolve(value)),
        (error: unknown) => back(() => reject(error instanceof Crash ? new Unreachable("died") : error)),
      );
    };
    if (random.chance(0.7)) there();
    else scheduler.after(random.int(1, RPC_MS / 2), there);
  });
}
