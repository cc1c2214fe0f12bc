import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import { answerOf, unknownCall } from "../../core/chat/inner-calls.ts";
import type { CallGroup } from "../../core/chat/inner-calls.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";

/** The calls of a platform to its part in another object. */
export interface PlatformCalls {
  call(messengerId: string, method: string, args: readonly unknown[]): Promise<unknown>;
}

export const PLATFORM: CallGroup<PlatformCalls> = { name: "platform" };

export interface PlatformPartsOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly env: object;
  readonly messengers: Pick<DeclaredMessengers, "get">;
}

/** The parts of platforms that keep rows for the whole bot. Each is created when it is called first. */
export class PlatformParts implements PlatformCalls {
  readonly #options: PlatformPartsOptions;
  readonly #parts = new Map<string, object>();

  constructor(options: PlatformPartsOptions) {
    this.#options = options;
  }

  async call(messengerId: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const { database, deps, env, messengers } = this.#options;
    const create = messengers.get(messengerId).platform.atRoot;
    const part = this.#parts.get(messengerId) ?? create?.({ messengerId, database, deps, env }) ?? {};
    this.#parts.set(messengerId, part);
    const answer = answerOf(part, method);
    if (answer === undefined) throw unknownCall(`${messengerId}.${method}`);
    return answer(...args);
  }
}
