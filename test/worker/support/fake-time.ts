import { onTestFinished, vi } from "vitest";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { Timer } from "../../../src/core/base/deps.ts";

export interface FakeTime {
  /** Moves time from timer to timer, so that every timer runs close to its moment. */
  pass(ms: number): Promise<void>;
}

/** Timers closer together than this run in one step. */
const STEP_MS = 500;
/** Turns of the event loop in which an object does what it can do at one moment. */
const ROUNDS = 4;

/** Time that only the test moves, until it ends. Every wait of the product by its own clock follows it. */
export function fakeTime(): FakeTime {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const cancelled = new WeakSet<object>();
  const dueAt = new Map<object, number>();
  let isOver = false;
  // A timer looks at the time again and again in the object that set it: called by the test it could use no storage.
  const poll = async (handle: object, callback: () => void, at: number): Promise<void> => {
    while (Date.now() < at) {
      await scheduler.wait(1);
      if (isOver || cancelled.has(handle)) return;
    }
    dueAt.delete(handle);
    if (!cancelled.has(handle)) callback();
  };
  const spies = [
    vi.spyOn(systemDeps.clock, "setTimeout").mockImplementation((callback, delayMs): Timer => {
      const handle = {};
      const at = Date.now() + delayMs;
      dueAt.set(handle, at);
      void scheduler.wait(0).then(() => poll(handle, callback, at));
      return handle;
    }),
    vi.spyOn(systemDeps.clock, "clearTimeout").mockImplementation((timer) => {
      if (typeof timer !== "object" || timer === null) return;
      cancelled.add(timer);
      dueAt.delete(timer);
    }),
    vi.spyOn(systemDeps, "random").mockReturnValue(0),
  ];
  onTestFinished(() => {
    isOver = true;
    for (const spy of spies) spy.mockRestore();
    vi.useRealTimers();
  });
  return {
    async pass(ms) {
      const until = Date.now() + ms;
      while (Date.now() < until) {
        const next = Math.max(
          Date.now() + STEP_MS,
          Math.min(...[...dueAt.values()].filter((at) => at > Date.now())),
        );
        vi.setSystemTime(Math.min(until, next));
        for (let round = 0; round < ROUNDS; round += 1) await scheduler.wait(1);
      }
    },
  };
}
