import { createBotBudget } from "../../delivery/index.ts";
import type { RootBudget } from "../../delivery/index.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { BotBudget } from "../../src/core/gate.ts";
import type { NodeDatabase } from "../support/node-database.ts";
import type { Life } from "./life.ts";
import type { Mutant } from "./mutant.ts";
import { callOver } from "./rpc.ts";
import type { Wire } from "./rpc.ts";
import { returnStorage, takeStorage } from "./storage.ts";

export interface RootObjectOptions {
  readonly wire: Wire;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly mutant: Mutant | undefined;
}

/** The root's Durable Object, as far as delivery knows it: the bot's rate, over storage that outlives it. */
export class RootObject {
  readonly database: NodeDatabase = takeStorage("root");
  readonly #options: RootObjectOptions;
  #live: { readonly life: Life; readonly budget: RootBudget } | undefined;

  constructor(options: RootObjectOptions) {
    this.#options = options;
  }

  /** The root as another object reaches it. */
  link(caller: Life): BotBudget {
    const call = <Value>(body: (budget: RootBudget) => Promise<Value>): Promise<Value> =>
      callOver(this.#options.wire, caller, "root", async () => body(this.#ensure().budget));
    return {
      lend: (request) => call((budget) => budget.lend(request)),
      tellSent: (sent) => call((budget) => budget.tellSent(sent)),
      seenIds: (question) => call((budget) => budget.seenIds(question)),
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

  #ensure(): { readonly life: Life; readonly budget: RootBudget } {
    if (this.#live !== undefined && !this.#live.life.isDead) return this.#live;
    const { deps, mutant, newLife } = this.#options;
    const life = newLife();
    const hooked = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const budget = createBotBudget({ database: mutant?.rootDatabase?.(hooked) ?? hooked, deps: deps(life) });
    this.#live = { life, budget };
    life.started();
    return this.#live;
  }
}
