import { createBudget } from "../../delivery/index.ts";
import type { AskSpeaker } from "../../delivery/message-boxes.ts";
import type { Budget } from "../../src/core/budget.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { NodeDatabase } from "../support/node-database.ts";
import type { Life } from "./life.ts";
import type { Mutant } from "./mutant.ts";
import type { Oracle } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { returnStorage, takeStorage } from "./storage.ts";

export interface RootObjectOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly isDown: () => boolean;
  /** What a thread's object knows of its own messages. */
  readonly askThread: AskSpeaker;
  readonly mutant: Mutant | undefined;
}

/** The root cannot be reached, or has died over the call. */
class RootUnreachable extends Error {
  readonly code = "root-unreachable";
}

/** Longest way of a call between two objects. */
export const RPC_MS = 12;

/** The root's Durable Object, as far as delivery knows it: the budget of all chats, over storage that outlives it. */
export class RootObject {
  readonly database: NodeDatabase = takeStorage("root");
  readonly #options: RootObjectOptions;
  #live: { readonly life: Life; readonly budget: Budget } | undefined;

  constructor(options: RootObjectOptions) {
    this.#options = options;
  }

  /** The budget as a thread reaches it: over calls that take time and fail when either side dies. */
  link(caller: Life): Budget {
    return {
      acquire: (address, purpose, pacing, request) =>
        this.#call(caller, async (budget) => {
          const grant = await budget.acquire(address, purpose, pacing, request);
          this.#options.oracle.onGrant(address, purpose, pacing, grant);
          return grant;
        }),
      penalize: (address, retryAfterMs) =>
        this.#call(caller, async (budget) => {
          await budget.penalize(address, retryAfterMs);
          this.#options.oracle.onPenalized(address, retryAfterMs);
        }),
      boxes: {
        observe: (...told) => this.#call(caller, async ({ boxes }) => boxes?.observe(...told)),
        unseen: (...asked) =>
          this.#call(caller, async ({ boxes }) => {
            if (boxes === undefined) throw new RootUnreachable("no boxes");
            return boxes.unseen(...asked);
          }),
      },
    };
  }

  kill(): void {
    this.#live?.life.kill();
    this.#live = undefined;
  }

  close(): void {
    this.kill();
    returnStorage("root", this.database);
  }

  #call<Value>(caller: Life, body: (budget: Budget) => Promise<Value>): Promise<Value> {
    const { random, scheduler, isDown } = this.#options;
    caller.boundary("before root");
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
          back(() => reject(new RootUnreachable("down")));
          return;
        }
        this.#work(body).then(
          (value) => back(() => resolve(value)),
          () => back(() => reject(new RootUnreachable("died"))),
        );
      };
      if (random.chance(0.7)) there();
      else scheduler.after(random.int(1, RPC_MS / 2), there);
    });
  }

  async #work<Value>(body: (budget: Budget) => Promise<Value>): Promise<Value> {
    return body(this.#ensure().budget);
  }

  #ensure(): { readonly life: Life; readonly budget: Budget } {
    if (this.#live !== undefined && !this.#live.life.isDead) return this.#live;
    const { deps, mutant, newLife, oracle, scheduler, random, askThread } = this.#options;
    const life = newLife();
    const hooked = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const budget = createBudget({
      database: mutant?.rootDatabase?.(hooked) ?? hooked,
      deps: deps(life),
      askSpeaker: async (speaker, question) => {
        await new Promise<void>((resolve) => scheduler.after(random.int(1, RPC_MS / 2), resolve));
        return askThread(speaker, question);
      },
    });
    this.#live = { life, budget: mutant?.budget?.(budget) ?? budget };
    oracle.onRootStarted();
    life.started();
    return this.#live;
  }
}
