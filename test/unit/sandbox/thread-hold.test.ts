import { beforeAll, expect, it } from "vitest";
import { createQuickJSExecutor } from "../../../src/sandbox/quickjs-executor.ts";
import { DEEP, ENDLESS, FLOOD, GREEDY, PROMISES, WORDY } from "../../support/sandbox-attacks.ts";

/** Longest time that an attack may hold the thread, on a machine like that of the project's figures. */
const MOST_MS = 100;
/** Time of the loop below on that machine. */
const LOOP_MS = 30;
const TRIES = 5;

const executor = createQuickJSExecutor();
const fns = { take: () => Promise.resolve(), go: () => new Promise<void>(() => {}) };

/** Processor time of this thread, which no other process adds to. */
async function thread(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { system, user } = process.threadCpuUsage(before);
  return (system + user) / 1000;
}

function loop(): number {
  let sum = 0;
  for (let turn = 0; turn < 5_000_000; turn += 1) sum = (sum * 31 + turn) % 1_000_003;
  return sum;
}

const attack = (code: string) =>
  thread(() => executor.execute(`async () => { ${code} }`, [{ name: "notes", fns }]));

beforeAll(async () => {
  // The first runs compile the engine.
  for (let run = 0; run < 5; run += 1) await attack("for (;;) {}");
  loop();
});

const others = [
  ["a flood of calls", FLOOD],
  ["promises", PROMISES],
] as const;

it.each([...ENDLESS, ...GREEDY, ...DEEP, ...WORDY, ...others])(
  `holds the thread for at most ${MOST_MS} ms under %s`,
  async (_name, code) => {
    let share = (await attack(code)) / MOST_MS;
    // A busy machine slows each processor down, now and then.
    for (let tries = 1; tries < TRIES && share > 1; tries += 1) {
      const slowness = Math.max(1, (await thread(loop)) / LOOP_MS);
      share = Math.min(share, (await attack(code)) / (MOST_MS * slowness));
    }
    expect(share).toBeLessThanOrEqual(1);
  },
);
