import { createChatGate } from "../../../delivery/index.ts";
import type { Database } from "../../../src/core/database.ts";
import type { Deps } from "../../../src/core/deps.ts";
import type { BotBudget, ChatGate, LocalSpeaker } from "../../../src/core/gate.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import { Crash } from "../machine/life.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { objectName } from "../plan/route-places.ts";
import { callOver } from "../machine/rpc.ts";
import type { Wire } from "../machine/rpc.ts";
import { returnStorage, takeStorage } from "../machine/storage.ts";
import type { TrafficCount } from "../plan/traffic.ts";

export interface GateParts {
  readonly name: string;
  readonly chatId: string;
  readonly life: Life;
  readonly database: Database;
  readonly deps: Deps;
  readonly root: BotBudget;
  readonly local: LocalSpeaker;
  readonly oracle: Oracle;
  readonly mutant: Mutant | undefined;
}

/** Starts the gate of a chat in a new process, watched by the oracle. */
export function startGate({ chatId, life, mutant, oracle, ...parts }: GateParts): ChatGate {
  const { database } = parts;
  const real = createChatGate({
    ...parts,
    name: objectName(parts.name),
    database: mutant?.gateDatabase?.(database) ?? database,
  });
  const gate = mutant?.gate?.(real) ?? real;
  oracle.onGateStarted(chatId);
  return {
    acquire: async (request) => {
      const grant = await gate.acquire(request);
      // A process that has died runs on until it would have an effect. Nobody gets its grants.
      if (life.isDead) throw new Crash("grant");
      oracle.onGrant(request, grant);
      return grant;
    },
    penalize: async (address, retryAfterMs) => {
      await gate.penalize(address, retryAfterMs);
      oracle.onPenalized(address, retryAfterMs);
    },
    report: (report) => gate.report(report),
    unclaimed: (question) => gate.unclaimed(question),
    noteCard: (report) => gate.noteCard(report),
    findCard: (question) => gate.findCard(question),
    claimMessage: (question) => gate.claimMessage(question),
  };
}

/** Returns a gate as another object calls it. */
export function linkGate(
  wire: Wire,
  caller: Life,
  { traffic }: TrafficCount,
  live: () => ChatGate,
): ChatGate {
  const call = <Value>(body: (gate: ChatGate) => Promise<Value>): Promise<Value> =>
    callOver(wire, caller, "gate", async () => body(live()));
  const tell = <Value>(body: (gate: ChatGate) => Promise<Value>): Promise<Value> => {
    traffic.reports += 1;
    return call(body);
  };
  return {
    acquire: async (request) => {
      traffic.questions += 1;
      const grant = await call((gate) => gate.acquire(request));
      if (grant.kind === "wait") traffic.waits += 1;
      return grant;
    },
    penalize: (address, retryAfterMs) => tell((gate) => gate.penalize(address, retryAfterMs)),
    report: (report) => tell((gate) => gate.report(report)),
    unclaimed: (question) => tell((gate) => gate.unclaimed(question)),
    noteCard: (report) => tell((gate) => gate.noteCard(report)),
    findCard: (question) => tell((gate) => gate.findCard(question)),
    claimMessage: (question) => tell((gate) => gate.claimMessage(question)),
  };
}

export interface GateObjectOptions {
  readonly name: string;
  readonly chatId: string;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly root: (life: Life) => BotBudget;
  readonly oracle: Oracle;
  readonly mutant: Mutant | undefined;
}

/** A local speaker that never posts. */
const NOBODY: LocalSpeaker = {
  isInDoubt: () => false,
  isUnresolved: () => false,
  sentIds: () => [],
  lastUsedAt: () => undefined,
};

/** The object of a chat in which only conversations of other objects speak. It has only the gate. */
export class GateObject {
  readonly database: NodeDatabase = takeStorage("gate");
  readonly #options: GateObjectOptions;
  #live: { readonly life: Life; readonly gate: ChatGate } | undefined;

  constructor(options: GateObjectOptions) {
    this.#options = options;
  }

  /** Whether it is in memory. */
  get isAlive(): boolean {
    return this.#live?.life.isDead === false;
  }

  get chatId(): string {
    return this.#options.chatId;
  }

  gate(): ChatGate {
    if (this.#live !== undefined && !this.#live.life.isDead) return this.#live.gate;
    const { deps, newLife, root, ...parts } = this.#options;
    const life = newLife();
    const database = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const gate = startGate({ ...parts, life, database, deps: deps(life), root: root(life), local: NOBODY });
    this.#live = { life, gate };
    life.started();
    return gate;
  }

  kill(): void {
    this.#live?.life.kill();
    this.#live = undefined;
  }

  close(): void {
    this.kill();
    returnStorage("gate", this.database);
  }
}
