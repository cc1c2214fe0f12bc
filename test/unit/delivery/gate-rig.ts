import { RootBudget, createChatGate } from "../../../delivery/index.ts";
import type {
  BotBudget,
  CallPurpose,
  CallRequest,
  ChatGate,
  ChatNews,
  Grant,
  LocalSpeaker,
} from "../../../src/core/chat/gate.ts";
import type { Address, Pacing } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { createNodeDatabase, type NodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, depsOn } from "./engine-harness.ts";

export const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 4, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

/** The name of the gate's own object, and of another one that speaks in its chats. */
export const OWN = "default/thread:telegram:7";
export const OTHER = "default/thread:telegram:7:2";

export const TOPIC: Address = { ...ADDRESS, threadId: "telegram:7:2", topicId: "2" };

export const inTopic = (topic: number): Address => ({
  ...ADDRESS,
  threadId: `telegram:7:${topic}`,
  topicId: `${topic}`,
});

export const chatOf = (index: number): Address => ({
  ...ADDRESS,
  chatId: `${index}`,
  threadId: `telegram:${index}`,
});

export const GROUP: Address = { ...ADDRESS, isDirectMessage: false };

/** What a speaker tells that has nothing to tell. */
export const QUIET: ChatNews = { box: "7", sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false };
export const POST: Partial<CallRequest> = { isPost: true, news: QUIET };

export interface GateRig {
  readonly clock: VirtualClock;
  readonly database: NodeDatabase;
  readonly root: RootBudget;
  readonly gate: ChatGate;
  readonly ask: (purpose: CallPurpose, address?: Address, more?: Partial<CallRequest>) => Promise<Grant>;
  /** The gate's object starts again; the root lives on. */
  readonly restart: () => GateRig;
}

export interface GateRigOptions {
  readonly clock?: VirtualClock;
  readonly database?: NodeDatabase;
  readonly root?: RootBudget;
  /** The root as the gate reaches it. */
  readonly way?: (root: RootBudget) => BotBudget;
  readonly local?: LocalSpeaker;
  readonly pacing?: Pacing;
}

export function gateRig(options: GateRigOptions = {}): GateRig {
  const { clock = createVirtualClock(), database = createNodeDatabase(), local = NOBODY } = options;
  const { pacing = PACING, way = (real) => real } = options;
  const deps = depsOn(clock);
  const root = options.root ?? new RootBudget({ database: createNodeDatabase(), deps });
  const gate = createChatGate({ database, deps, name: OWN, root: way(root), local });
  return {
    clock,
    database,
    root,
    gate,
    ask: (purpose, address = ADDRESS, more = {}) =>
      gate.acquire({ address, purpose, pacing, speaker: OTHER, ...more }),
    restart: () => gateRig({ ...options, clock, database, root }),
  };
}

/** A gate whose root has run for so long that its bucket is full. */
export async function seasoned(options: GateRigOptions = {}): Promise<GateRig> {
  const clock = options.clock ?? createVirtualClock();
  const root = options.root ?? new RootBudget({ database: createNodeDatabase(), deps: depsOn(clock) });
  await clock.advance(60_000);
  return gateRig({ ...options, clock, root });
}
