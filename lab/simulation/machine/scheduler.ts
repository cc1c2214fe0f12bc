import type { Clock, Timer } from "../../../src/core/base/deps.ts";
import type { Random } from "../../support/random.ts";

/** One queue of all future work. The seed decides the order of work at the same moment. */
export interface Scheduler {
  now(): number;
  /** Runs `body` after `delayMs`. Returns a function that cancels it. */
  after(delayMs: number, body: () => void): () => void;
  /** Runs everything until nothing is left, `untilMs` have passed since the start, or `isOver`. */
  run(untilMs: number, isOver: () => boolean): Promise<"empty" | "timeout" | "over">;
  /** Creates a clock for one process. After `kill` none of its timers run. */
  process(): ProcessClock;
}

export interface ProcessClock extends Clock {
  kill(): void;
}

interface Entry {
  readonly at: number;
  readonly tie: number;
  readonly order: number;
  body: (() => void) | undefined;
}

export function createScheduler(random: Random, startAt: number): Scheduler {
  const heap: Entry[] = [];
  let now = startAt;
  let order = 0;

  const after = (delayMs: number, body: () => void): (() => void) => {
    order += 1;
    const entry: Entry = { at: now + Math.max(0, Math.ceil(delayMs)), tie: random.next(), order, body };
    push(heap, entry);
    return () => (entry.body = undefined);
  };

  return {
    now: () => now,
    after,
    async run(untilMs, isOver) {
      const end = startAt + untilMs;
      await settle();
      for (;;) {
        if (isOver()) return "over";
        const entry = pop(heap);
        if (entry === undefined) return "empty";
        if (entry.body === undefined) continue;
        if (entry.at > end) {
          push(heap, entry);
          return "timeout";
        }
        now = Math.max(now, entry.at);
        const { body } = entry;
        entry.body = undefined;
        body();
        await settle();
      }
    },
    process() {
      const timers = new Set<() => void>();
      let isAlive = true;
      return {
        now: () => now,
        setTimeout(callback, delayMs) {
          if (!isAlive) return undefined;
          const cancel = after(delayMs, () => {
            timers.delete(cancel);
            callback();
          });
          timers.add(cancel);
          return cancel;
        },
        clearTimeout(timer: Timer) {
          if (typeof timer !== "function") return;
          timers.delete(timer as () => void);
          (timer as () => void)();
        },
        kill() {
          isAlive = false;
          for (const cancel of timers) cancel();
          timers.clear();
        },
      };
    },
  };
}

/** Waits for a macrotask of the runtime, which comes after every chain of microtasks. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function isBefore(left: Entry, right: Entry): boolean {
  if (left.at !== right.at) return left.at < right.at;
  return left.tie === right.tie ? left.order < right.order : left.tie < right.tie;
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    let child = heap[below];
    const right = heap[below + 1];
    if (right !== undefined && child !== undefined && isBefore(right, child)) {
      below += 1;
      child = right;
    }
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = last;
  return first;
}
