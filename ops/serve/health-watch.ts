import { setTimeout as delay } from "node:timers/promises";
import type { Health } from "./health.ts";

/**
 * Wait before the second health check: a platform may refuse the bot's token shortly after the first one. Later checks
 * are rarer.
 */
const SECOND_LOOK_MS = 3_000;
const LOOK_EVERY_MS = 30_000;

/** Whether a bot can answer, and what has become of that since it was asked last. */
export interface HealthChange {
  /** Why the bot cannot answer. Empty if it can. */
  readonly problem: string;
  readonly isNew: boolean;
}

/** Asks a bot for its health from time to time, and tells each change once. */
export interface HealthWatch {
  /** Asks now. The caller tells the change. Undefined if the bot gives no answer about itself. */
  look(): Promise<HealthChange | undefined>;
}

/**
 * Watches the health of a bot until it is stopped.
 *
 * @param first its answer at the start, which was told already
 */
export function watchHealth(
  ask: () => Promise<Health>,
  first: Health,
  { say, stopped }: { readonly say: (line: string) => void; readonly stopped: AbortSignal },
): HealthWatch {
  const messageOf = (health: Health): string => (health.kind === "problem" ? health.message : "");
  let told = messageOf(first);
  const look = async (): Promise<HealthChange | undefined> => {
    const health = await ask();
    // workerd may be restarting, which its supervisor logs.
    if (health.kind !== "ready" && health.kind !== "problem") return undefined;
    const problem = messageOf(health);
    const isNew = problem !== told;
    told = problem;
    return { problem, isNew };
  };
  const lookAgain = async (): Promise<void> => {
    for (let waitMs = SECOND_LOOK_MS; ; waitMs = LOOK_EVERY_MS) {
      await delay(waitMs, undefined, { ref: false });
      if (stopped.aborted) return;
      const change = await look();
      if (change?.isNew === true) {
        say(change.problem === "" ? "ready again" : `not ready: ${change.problem}`);
      }
    }
  };
  void lookAgain();
  return { look };
}
