import { createBotBudget } from "../../../delivery/index.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { Deps } from "../../../src/core/deps.ts";
import type { BotBudget } from "../../../src/core/gate.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import { callOver } from "../machine/rpc.ts";
import type { Wire } from "../machine/rpc.ts";
import { returnStorage, takeStorage } from "../machine/storage.ts";
import type { ThreadObject } from "./thread-object.ts";
import type { TrafficCount } from "../plan/traffic.ts";

export interface RootObjectOptions {
  readonly wire: Wire;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly mutant: Mutant | undefined;
  readonly traffic: TrafficCount;
  /** The conversation that is the root's own, where the root answers. */
  readonly self?: () => ThreadObject | undefined;
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
    const call = <Value>(body: (budget: RootBudget) => Promise<Value>): Promise<Value> => {
      this.#options.traffic.root(caller.name);
      return callOver(this.#options.wire, caller, "root", async () => body(this.#ensure().budget));
    };
    return {
      lend: (request) => call((budget) => budget.lend(request)),
      tellSent: (sent) => call((budget) => budget.tellSent(sent)),
      seenIds: (question) => call((budget) => budget.seenIds(question)),
    };
  }

  /** A webhook brings messages with their ids. They are kept in memory only. */
  observe(box: string, isShared: boolean, ids: readonly number[]): void {
    this.#ensure().budget.noteIncoming("sim", box, isShared, ids);
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
    const self = this.#options.self?.();
    if (self !== undefined) return self.root();
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
