import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../ops/serve/write-atomically.ts";

/** The file in the data directory that keeps the clock over a restart. Its data belong to that time. */
export const CLOCK_FILE = "clock.json";

const fileSchema = z.object({ shiftMs: z.number().int() });

/** The playground's clock: the machine's, or moved. Times are epoch milliseconds. */
export interface MovedClock {
  readonly shiftMs: number;
  now(): number;
  /**
   * Moves the clock forward. It never goes back, because the bot's data would then be of the future.
   * @param apply lets the bot run on the moved clock; if it fails, the clock stays as it was
   * @throws {Error} if the time is not later than the clock, or too far away
   */
  moveTo(time: number, apply: () => Promise<void>): Promise<void>;
}

const MOST_AHEAD_MS = 10 * 366 * 24 * 3_600_000;

/** Opens the clock of a data directory. */
export async function openMovedClock(
  dataDirectory: string,
  machineNow: () => number = Date.now,
): Promise<MovedClock> {
  const file = path.join(dataDirectory, CLOCK_FILE);
  let shiftMs = await readShift(file);
  const now = (): number => machineNow() + shiftMs;
  return {
    get shiftMs() {
      return shiftMs;
    },
    now,
    async moveTo(time, apply) {
      if (time <= now())
        throw new Error("The clock only moves forward. To go back, start over with an empty data directory.");
      const next = Math.round(time - machineNow());
      if (next > MOST_AHEAD_MS) throw new Error("That is too far away: at most ten years from today.");
      const before = shiftMs;
      shiftMs = next;
      try {
        await apply();
      } catch (error) {
        shiftMs = before;
        throw error;
      }
      await writeAtomically(file, JSON.stringify({ shiftMs }));
    },
  };
}

async function readShift(file: string): Promise<number> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? 0 : fileSchema.parse(JSON.parse(text)).shiftMs;
}
