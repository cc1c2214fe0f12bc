import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import { answerOf, unknownCall } from "../../core/chat/inner-calls.ts";
import type { CallGroup } from "../../core/chat/inner-calls.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";

/** The calls of a platform to its keeper in another object. */
export interface PlatformCalls {
  call(messengerId: string, method: string, args: readonly unknown[]): Promise<unknown>;
}

export const PLATFORM: CallGroup<PlatformCalls> = { name: "platform" };

export interface PlatformKeepersOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly env: object;
  readonly messengers: Pick<DeclaredMessengers, "get">;
}

/** Keep the rows that platforms have for the whole bot. Each is created when it is called first. */
export class PlatformKeepers implements PlatformCalls {
  readonly #options: PlatformKeepersOptions;
  readonly #keepers = new Map<string, object>();

  constructor(options: PlatformKeepersOptions) {
    this.#options = options;
  }

  async call(messengerId: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const { database, deps, env, messengers } = this.#options;
    const create = messengers.get(messengerId).platform.atRoot;
    const keeper = this.#keepers.get(messengerId) ?? create?.({ messengerId, database, deps, env }) ?? {};
    this.#keepers.set(messengerId, keeper);
    const answer = answerOf(keeper, method);
    if (answer === undefined) throw unknownCall(`${messengerId}.${method}`);
    return answer(...args);
  }
}
