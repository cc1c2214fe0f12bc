import { wait } from "../core/deps.ts";
import type { Clock } from "../core/deps.ts";

const WAITS = 5;
const WAIT_MS = 1;

/**
 * Gives the platform its answer before a turn begins, although both are done by the same thread. Several short waits
 * are better than a long one: on a busy machine it can pass without any progress of the answer.
 */
export async function answerFirst(clock: Clock): Promise<void> {
  for (let waits = 0; waits < WAITS; waits += 1) await wait(clock, WAIT_MS);
}
