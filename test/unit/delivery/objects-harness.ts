import { RootBudget, createChatGate, createDelivery } from "../../../delivery/index.ts";
import type { Delivery, ReplyPolicy, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { createFakeSurface, type FakeSurface, type FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createNodeDatabase, type NodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock, type ProcessClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { depsOn } from "./engine-harness.ts";

/** A conversation, in an object of its own. */
export interface Speaking {
  readonly address: Address;
  readonly delivery: Delivery;
  readonly start: (id: string, more?: Partial<ReplyStart>) => ReplyStart;
}

export interface Objects {
  readonly clock: VirtualClock;
  readonly surface: FakeSurface;
  readonly root: () => RootBudget;
  readonly speaking: (name: string) => Speaking;
  /** The object dies, whatever it does, and starts again. */
  readonly restart: (name: string) => void;
  readonly restartRoot: () => void;
  /** Calls to this object are not answered any more, until they are again. */
  readonly setReachable: (name: string, isReachable: boolean) => void;
  readonly advance: (milliseconds: number) => Promise<void>;
  readonly lines: readonly string[];
}

export interface ObjectsOptions {
  /** The conversations, each with the name of the object that is its chat's gate. */
  readonly conversations: Readonly<Record<string, { readonly address: Address; readonly gate: string }>>;
  readonly surface?: Partial<FakeSurfaceOptions>;
  readonly policy?: ReplyPolicy;
  /** How long a call from one object to another takes, each way. @default 5 */
  readonly rpcMs?: number;
}

interface Life {
  readonly clock: ProcessClock;
  readonly gate: ChatGate;
  readonly delivery: Delivery | undefined;
  isDead: boolean;
  wakeAt: number | undefined;
}

/** Several objects of one bot on one clock: conversations, gates of chats and the root, which call each other. */
export function createObjects(options: ObjectsOptions): Objects {
  const { conversations, policy = {}, rpcMs = 5 } = options;
  const clock = createVirtualClock();
  const surface = createFakeSurface({
    clock,
    latencyMs: 50,
    probing: true,
    capabilities: { typing: false },
    ...options.surface,
  });
  const lines: string[] = [];
  const rootDatabase = createNodeDatabase();
  let root = new RootBudget({ database: rootDatabase, deps: depsOn(clock) });
  const databases = new Map<string, NodeDatabase>();
  const lives = new Map<string, Life>();
  const unreachable = new Set<string>();

  const pause = (): Promise<void> =>
    rpcMs === 0 ? Promise.resolve() : new Promise((resolve) => void clock.setTimeout(resolve, rpcMs));

  /** A call to another object. It is lost when that is not there, or dies under it. */
  const call = async <Value>(to: string, made: () => Promise<Value>): Promise<Value> => {
    await pause();
    if (unreachable.has(to)) throw new Error(`${to} cannot be reached.`);
    const life = lives.get(to);
    const value = await made();
    if (life?.isDead === true) throw new Error(`${to} was restarted.`);
    await pause();
    return value;
  };

  const boot = (name: string): void => {
    const before = lives.get(name);
    if (before !== undefined) {
      before.isDead = true;
      before.clock.kill();
    }
    const database = databases.get(name) ?? createNodeDatabase();
    databases.set(name, database);
    const processClock = clock.process();
    const deps = depsOn(processClock);
    const dies = (): void => {
      if (lives.get(name) !== life) throw new Error("A dead process does nothing any more.");
    };
    const spoken = conversations[name];
    const gate = createChatGate({
      database,
      deps,
      name,
      root: {
        lend: (request) => call("root", () => root.lend(request)),
        tellSent: (sent) => call("root", () => root.tellSent(sent)),
        seenIds: (question) => call("root", () => root.seenIds(question)),
        penalize: (penalty) => call("root", () => root.penalize(penalty)),
      },
      local: {
        isInDoubt: (...asked) => (life.delivery ?? NOBODY).isInDoubt(...asked),
        isUnresolved: (chat) => (life.delivery ?? NOBODY).isUnresolved(chat),
        sentIds: (...asked) => (life.delivery ?? NOBODY).sentIds(...asked),
        lastUsedAt: () => (life.delivery ?? NOBODY).lastUsedAt(),
      },
    });
    const gateOf = (address: Address): ChatGate => {
      const owner = Object.values(conversations).find((other) => other.address.threadId === address.threadId);
      const gateName = owner?.gate ?? name;
      if (gateName === name) return gate;
      const other = (): ChatGate => {
        const found = lives.get(gateName)?.gate;
        if (found === undefined) throw new Error(`${gateName} is not there.`);
        return found;
      };
      return {
        acquire: (request) => call(gateName, () => other().acquire(request)),
        penalize: (...told) => call(gateName, () => other().penalize(...told)),
        report: (told) => call(gateName, () => other().report(told)),
        unclaimed: (question) => call(gateName, () => other().unclaimed(question)),
        noteCard: (told) => call(gateName, () => other().noteCard(told)),
        findCard: (question) => call(gateName, () => other().findCard(question)),
        claimMessage: (question) => call(gateName, () => other().claimMessage(question)),
      };
    };
    const life: Life = { clock: processClock, gate, delivery: undefined, isDead: false, wakeAt: undefined };
    lives.set(name, life);
    if (spoken === undefined) return;
    const delivery = createDelivery({
      database: database.withHooks({ beforeWrite: dies }),
      deps,
      log: createLog((_level, line) => void lines.push(line)),
      gates: { speaker: name, gateOf },
      messengers: { surface: () => surface.connect({ clock: processClock, onBoundary: dies }) },
      onWake: (at) => {
        if (lives.get(name) === life) life.wakeAt = at;
      },
    });
    Object.assign(life, { delivery });
    void run(life);
  };

  const run = async (life: Life): Promise<void> => {
    try {
      await life.delivery?.run();
    } catch (error) {
      if (!life.isDead) throw error;
    }
  };

  const names = new Set([
    ...Object.values(conversations).map(({ gate }) => gate),
    ...Object.keys(conversations),
  ]);
  for (const name of names) boot(name);

  const nextWake = (): Life | undefined => {
    let next: Life | undefined;
    for (const life of lives.values()) {
      if (life.wakeAt !== undefined && life.wakeAt < (next?.wakeAt ?? Infinity)) next = life;
    }
    return next;
  };

  const advance = async (milliseconds: number): Promise<void> => {
    const end = clock.now() + milliseconds;
    for (;;) {
      await clock.settle();
      const life = nextWake();
      const wakeAt = life?.wakeAt ?? Infinity;
      const timerAt = clock.nextTimerAt() ?? Infinity;
      if (Math.min(wakeAt, timerAt) > end) break;
      await clock.advance(Math.max(0, Math.min(wakeAt, timerAt) - clock.now()));
      if (life === undefined || life.wakeAt === undefined || life.wakeAt > clock.now()) continue;
      life.wakeAt = undefined;
      void run(life);
    }
    await clock.advance(Math.max(0, end - clock.now()));
  };

  return {
    clock,
    surface,
    lines,
    root: () => root,
    speaking: (name) => {
      const delivery = lives.get(name)?.delivery;
      const spoken = conversations[name];
      if (delivery === undefined || spoken === undefined) throw new TypeError(`Nobody speaks in ${name}.`);
      const { address } = spoken;
      return {
        address,
        delivery,
        start: (id, more) => ({ id, address, policy, seenMessageId: "100", ...more }),
      };
    },
    restart: boot,
    restartRoot: () => (root = new RootBudget({ database: rootDatabase, deps: depsOn(clock) })),
    setReachable: (name, isReachable) => {
      if (isReachable) unreachable.delete(name);
      else unreachable.add(name);
    },
    advance,
  };
}
