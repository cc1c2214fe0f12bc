import fc from "fast-check";
import { expect, it } from "vitest";
import { createLog } from "../../../../src/core/base/log.ts";
import { TurnPatience } from "../../../../src/turn/recovery/turn-patience.ts";
import { createWaitStore } from "../../../../src/turn/wait-store.ts";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const PATIENCE_MS = 120_000;

function createRig({ patienceMs = PATIENCE_MS, random = (): number => 0 } = {}) {
  const clock = createVirtualClock();
  const database = createNodeDatabase();
  const told: string[] = [];
  /** What a start of the process makes of what is stored. */
  const start = (): TurnPatience =>
    new TurnPatience({
      clock,
      random,
      logOf: () => createLog(() => {}),
      waits: createWaitStore(database),
      patienceMs: () => patienceMs,
      turns: () => ({
        tellWaiting: (id) => void told.push(`long ${id}`),
        endWaiting: (id) => void told.push(`end ${id}`),
      }),
    });
  const failure = (retryAfterMs?: number) => ({
    code: "model-overloaded",
    beganAt: clock.now(),
    retryAfterMs,
  });
  const tables = () => database.all("SELECT name FROM sqlite_master WHERE name = 'model_wait_v1'").length;
  return { clock, database, failure, start, tables, told };
}

it("stores nothing, and makes no table, for a model that answers", () => {
  const { start, tables, told } = createRig();
  const patience = start();
  patience.of("a").end();
  expect([patience.isOver("a"), tables(), told]).toEqual([false, 0, []]);
});

it("waits no shorter than the server asks, never past its patience, and spreads those who come back", async () => {
  const asks = fc.array(fc.option(fc.integer({ min: 0, max: 30_000 }), { nil: undefined }), {
    maxLength: 30,
  });
  const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  await fc.assert(
    fc.asyncProperty(asks, jitter, async (asked, random) => {
      const { clock, failure, start } = createRig({ random: () => random });
      const beganAt = clock.now();
      const patience = start().of("a");
      for (const retryAfterMs of asked) {
        const leftMs = PATIENCE_MS - (clock.now() - beganAt);
        const delayMs = patience.next(failure(retryAfterMs));
        expect(delayMs === undefined).toBe(leftMs <= 0 || (retryAfterMs ?? 0) > leftMs);
        if (delayMs === undefined) return;
        expect(delayMs).toBeGreaterThanOrEqual(Math.min(retryAfterMs ?? 250, leftMs));
        expect(delayMs).toBeLessThanOrEqual(
          Math.min(leftMs, Math.max((retryAfterMs ?? 0) * 1.1 + 1, 15_000)),
        );
        await clock.advance(delayMs);
      }
    }),
  );
});

it("tries once more at the end of its patience, and then it is over", async () => {
  const { clock, failure, start } = createRig({ patienceMs: 1000 });
  const turn = start();
  const patience = turn.of("a");
  expect(patience.next(failure())).toBe(250);
  await clock.advance(900);
  expect(patience.next(failure())).toBe(100);
  await clock.advance(100);
  expect(patience.next(failure())).toBeUndefined();
  patience.end();
  expect(turn.isOver("a")).toBe(true);
  expect(turn.isOver("b")).toBe(false);
});

it("does not wait at all with no patience", () => {
  const { failure, start } = createRig({ patienceMs: 0 });
  expect(start().of("a").next(failure())).toBeUndefined();
});

it("counts a silence that it learns of late from its beginning", async () => {
  const { clock, failure, start } = createRig();
  const silent = failure();
  await clock.advance(PATIENCE_MS);
  expect(start().of("a").next(silent)).toBeUndefined();
});

it("counts the waits of one operation together, and no time between them", async () => {
  const { clock, failure, start } = createRig();
  const turn = start();
  const first = turn.of("a");
  first.next(failure());
  await clock.advance(70_000);
  first.end();
  await clock.advance(3_600_000);
  expect(turn.of("b").next(failure(60_000))).toBe(60_000);
  expect(turn.of("a").next(failure(50_001))).toBeUndefined();
  expect(turn.of("a").next(failure(50_000))).toBe(50_000);
});

it("goes on with a wait after a crash, the time of the crash included", async () => {
  const { clock, failure, start, told } = createRig();
  start().of("a").next(failure());
  await clock.advance(15_000);
  const after = start().of("a");
  await clock.advance(5_000);
  expect(told).toContain("long a");
  expect(after.next(failure(100_001))).toBeUndefined();
  expect(after.next(failure(100_000))).toBe(100_000);
});

it("forgets the wait of an answer that came right after a crash", async () => {
  const { clock, failure, start, told } = createRig();
  start().of("a").next(failure());
  await clock.advance(15_000);
  start().of("a").end();
  await clock.advance(3_600_000);
  expect(start().of("a").next(failure(105_000))).toBe(105_000);
  expect(told).toContain("end a");
});

it("tells of a long wait after 20 seconds, of a short one never", async () => {
  const { clock, failure, start, told } = createRig();
  const turn = start();
  const [short, long] = [turn.of("short"), turn.of("long")];
  short.next(failure());
  long.next(failure());
  await clock.advance(19_999);
  short.end();
  expect(told).toEqual(["end short"]);
  await clock.advance(1);
  expect(told).toEqual(["end short", "long long"]);
  long.end();
  await clock.advance(PATIENCE_MS);
  expect(told).toEqual(["end short", "long long", "end long"]);
});

it("keeps what it knows of an operation for a day", async () => {
  const { clock, database, failure, start } = createRig();
  const turn = start();
  turn.of("old").next(failure());
  await clock.advance(25 * 3_600_000);
  turn.of("new").next(failure());
  expect(database.all("SELECT operation FROM model_wait_v1")).toEqual([{ operation: "new" }]);
});
