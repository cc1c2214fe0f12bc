import { createDelivery } from "../../../delivery/index.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type { Delivery, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { Surface } from "../../../src/core/chat/surface.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import type { FakeSurface, FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, depsOn, SPEAKER } from "./engine-harness.ts";

/** The process has died; nothing it still does may have an effect. */
export class Crash extends Error {}

export interface CrashWorld {
  readonly clock: VirtualClock;
  readonly platform: FakeSurface;
  readonly database: NodeDatabase;
  /** Boundaries passed so far: before and after every durable write and every call. */
  readonly boundaries: () => readonly string[];
  /**
   * The numbers of boundaries that stand for all: at a boundary that is left out, a process that dies leaves the same as
   * at the one before, in both databases, on the platform and on the clock.
   */
  readonly deaths: () => readonly number[];
  /** Starts a process, which dies at the boundary of this number, counted over the world's whole life. */
  readonly boot: (crashAt: number) => CrashProcess;
}

export interface CrashProcess {
  readonly delivery: Delivery;
  /** The storage, whose writes are boundaries too. */
  readonly database: Database;
  readonly isDead: () => boolean;
  /** Dies right now. */
  readonly kill: () => void;
  /** Moves time and runs alarms while the process lives. */
  readonly advance: (milliseconds: number) => Promise<void>;
}

/** Storage and platform that outlive their processes. */
export function createCrashWorld(
  options: Partial<FakeSurfaceOptions> = {},
  /** Returns the platform as the object reaches it, for planted defects. */
  reached: (real: Surface) => Surface = (real) => real,
): CrashWorld {
  const clock = createVirtualClock();
  const platform = createFakeSurface({ clock, latencyMs: 30, ...options });
  const database = createNodeDatabase();
  const rootDatabase = createNodeDatabase();
  const passed: string[] = [];
  const deaths: number[] = [];
  let leftBefore = "";
  let lastId = 0;

  /** Everything that outlives a process. A call that succeeds changes the platform right before its boundary. */
  const left = (): string =>
    JSON.stringify([
      clock.now(),
      lastId,
      database.changes(),
      rootDatabase.changes(),
      ...platform.calls.map(({ outcome }) => (outcome === "pending" ? "done" : outcome)),
    ]);

  const boot = (crashAt: number): CrashProcess => {
    const processClock = clock.process();
    const life = { isDead: false };
    let wakeAt: number | undefined;
    const kill = (): void => {
      life.isDead = true;
      processClock.kill();
    };
    const boundary = (name: string): void => {
      if (life.isDead) throw new Crash(name);
      passed.push(name);
      const leftNow = left();
      if (leftNow !== leftBefore || !name.startsWith("before")) deaths.push(passed.length);
      leftBefore = leftNow;
      if (passed.length !== crashAt) return;
      kill();
      throw new Crash(name);
    };
    // No process gets an id that an earlier one had.
    const deps = { ...depsOn(processClock), newId: () => `id-${(lastId += 1)}` };
    // The gate dies with its object; the root is another one, which lives on.
    const { gate } = createTestGate({
      rootDatabase,
      gateDatabase: database,
      deps,
      name: SPEAKER,
      local: () => delivery,
    });
    const hooked = database.withHooks({
      beforeWrite: () => boundary("before write"),
      afterWrite: () => boundary("after write"),
    });
    const delivery: Delivery = createDelivery({
      database: hooked,
      deps,
      log: createLog(() => {}),
      gates: { speaker: SPEAKER, gateOf: () => gate },
      messengers: {
        surface: () =>
          reached(
            platform.connect({
              clock: processClock,
              onBoundary: (when, method) => boundary(`${when} ${method}`),
            }),
          ),
      },
      onWake: (at) => (wakeAt = at),
    });
    const advance = async (milliseconds: number): Promise<void> => {
      const end = clock.now() + milliseconds;
      await clock.settle();
      while (!life.isDead && clock.now() < end) {
        const next = Math.min(end, wakeAt ?? end, clock.nextTimerAt() ?? end);
        await clock.advance(Math.max(1, next - clock.now()));
        if (wakeAt !== undefined && wakeAt <= clock.now()) {
          wakeAt = undefined;
          void delivery.run().catch(ignoreCrash);
          await clock.settle();
        }
      }
    };
    return { delivery, database: hooked, isDead: () => life.isDead, kill, advance };
  };
  return { clock, platform, database, boundaries: () => passed, deaths: () => deaths, boot };
}

export function startOf(id: string, more: Partial<ReplyStart> = {}): ReplyStart {
  return { id, address: ADDRESS, policy: { editEveryMs: 100 }, seenMessageId: "100", ...more };
}

/** For work of a process that may die under it. */
export function ignoreCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error;
}
