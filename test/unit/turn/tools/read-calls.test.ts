import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MOST_READS, ReadCalls } from "../../../../src/turn/tools/read-calls.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

describe("reads of one turn", () => {
  it("run at most four at once, in their order, whatever ends or is stopped when", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("begin", "end", "stop"), { maxLength: 60 }), async (acts) => {
        const reads = new ReadCalls(createVirtualClock());
        const begun: number[] = [];
        const open: (() => void)[] = [];
        const stops: AbortController[] = [];
        let asked = 0;
        for (const act of acts) {
          if (act === "begin") {
            const number = (asked += 1);
            const stop = new AbortController();
            stops.push(stop);
            void reads.begin("turn", stop.signal).then(
              (end) => {
                begun.push(number);
                open.push(end);
              },
              () => undefined,
            );
          } else if (act === "end") open.shift()?.();
          else stops.shift()?.abort();
          for (let tick = 0; tick < 5; tick += 1) await Promise.resolve();
          expect(open.length).toBeLessThanOrEqual(MOST_READS);
        }
        expect(begun).toEqual(begun.toSorted((a, b) => a - b));
        // Whatever still waits begins when others end.
        while (open.length > 0) {
          open.shift()?.();
          for (let tick = 0; tick < 5; tick += 1) await Promise.resolve();
        }
        let isFree = false;
        void reads.begin("turn", undefined).then(() => (isFree = true));
        for (let tick = 0; tick < 5; tick += 1) await Promise.resolve();
        expect(isFree).toBe(true);
      }),
    );
  });

  it("answer an equal call for 30 seconds, and never after an effect", async () => {
    const clock = createVirtualClock();
    const reads = new ReadCalls(clock);
    reads.keeper("turn", "look", { id: 1 })("seen");
    expect(reads.known("turn", "look", { id: 1 })).toMatchObject({ output: "seen" });
    expect(reads.known("turn", "look", { id: 2 })).toBeUndefined();
    expect(reads.known("other", "look", { id: 1 })).toBeUndefined();
    await clock.advance(30_000);
    expect(reads.known("turn", "look", { id: 1 })).toBeUndefined();
    reads.keeper("turn", "look", { id: 1 })("seen again");
    reads.effect("turn");
    expect(reads.known("turn", "look", { id: 1 })).toBeUndefined();
  });

  it("keep nothing that was read while something had an effect", () => {
    const reads = new ReadCalls(createVirtualClock());
    const keep = reads.keeper("turn", "look", {});
    reads.effect("turn");
    keep("old");
    expect(reads.known("turn", "look", {})).toBeUndefined();
  });
});
