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
  /** Returns the root's own conversation, if the root answers. */
  readonly self?: () => ThreadObject | undefined;
}

/** The root's Durable Object, as far as the delivery uses it: the bot's rate, in storage that outlives the process. */
export class RootObject {
  readonly database: NodeDatabase = takeStorage("root");
  readonly #options: RootObjectOptions;
  #live: { readonly life: Life; readonly budget: RootBudget } | undefined;

  constructor(options: RootObjectOptions) {
    this.#options = options;
  }

  /** Returns the root as another object calls it. */
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

  /** Learns message ids from a webhook. They are kept in memory only. */
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
