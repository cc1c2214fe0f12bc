import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Contract } from "./expectation.ts";
import type { PlatformEmulator } from "./platform-emulator.ts";
import { playInTurn, playTogether } from "./row.ts";
import type { Row } from "./row.ts";
import { allRows, rowsAlone, rowsThatHoldUp, rowsTogether } from "./rows.ts";
import { Stage } from "./stage.ts";
import { writeRecords } from "./write-records.ts";

/** Limit of a call for the rows that wait until it has passed. */
const SHORT_CALL_MS = 6000;

/**
 * Plays every row with a served bot on an emulated platform, and compares what people got with what the documents say.
 * A row that works although it is listed as not working fails, too.
 *
 * @param ownRows rows that no other platform has. All must work. The documents leave them out.
 * @param ownRowsAlone the same, for rows that need a bot of their own
 */
export function checkContract(
  contract: Contract,
  create: () => PlatformEmulator | Promise<PlatformEmulator>,
  ownRows: readonly Row[] = [],
  ownRowsAlone: readonly Row[] = [],
): void {
  describe(`a bot on ${contract.title}`, () => {
    const stages: Stage[] = [];
    let outcomes: ReadonlyMap<string, string> = new Map();

    const start = async (callTimeoutMs?: number): Promise<Stage> =>
      Stage.start(await create(), { expected: contract.expected, callTimeoutMs });

    // A killed bot waits for the limit of the call that it was making. Where it cannot find a lost post, the limit is one
    // that no busy machine reaches.
    const ofOwn = contract.expected["error-500"] === undefined ? SHORT_CALL_MS : undefined;

    beforeAll(async () => {
      const [shared, heldUp, own] = await Promise.all([start(), start(SHORT_CALL_MS), start(ofOwn)]);
      stages.push(shared, heldUp, own);
      const played = await Promise.all([
        playTogether(shared, [...rowsTogether, ...ownRows]),
        playTogether(heldUp, rowsThatHoldUp),
        playInTurn(own, [...ownRowsAlone, ...rowsAlone]),
      ]);
      outcomes = new Map(played.flatMap((some) => [...some]));
    });
    afterAll(async () => {
      await writeRecords(contract.title, outcomes, stages);
      await Promise.all(stages.map((stage) => stage.close()));
    });

    it.each([...allRows, ...ownRows, ...ownRowsAlone].map(({ title, key }) => [title, key]))(
      "%s",
      (_title, key) => {
        expect(outcomes.get(key)).toBe(contract.expected[key]?.outcome ?? "works");
      },
    );

    it("meets no error of the emulator's own", () => {
      expect(stages.flatMap(({ server }) => server.problems)).toEqual([]);
    });

    it("has expectations of rows that exist only", () => {
      const keys = new Set(allRows.map(({ key }) => key));
      expect(Object.keys(contract.expected).filter((key) => !keys.has(key))).toEqual([]);
    });
  });
}
