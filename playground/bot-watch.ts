import type { Health } from "../ops/serve/health.ts";
import type { Simulator } from "./telegram/simulator.ts";

export interface BotWatchOptions {
  /** Reads the bot's answer at `/health`. */
  readonly ask: () => Promise<Health>;
  readonly simulator: Pick<Simulator, "setBotProblem" | "updates">;
}

export interface BotWatch {
  /** Asks the bot if there is a reason to, and shows its answer. */
  look(): Promise<void>;
  /** Makes the next look ask: the bot was loaded again. */
  forget(): void;
}

/**
 * Shows on the page why the bot cannot answer. The webhook tells only a status, as Telegram would see it.
 *
 * `look` asks the bot at its start, after it was loaded again, while there is a problem, and when an update was not accepted.
 */
export function createBotWatch({ ask, simulator }: BotWatchOptions): BotWatch {
  let isUnknown = true;
  let problem: string | undefined;
  let isLooking = false;
  const isDue = (): boolean =>
    isUnknown ||
    problem !== undefined ||
    simulator.updates().some(({ attempts, state }) => state === "pending" && attempts.length > 0);

  return {
    async look() {
      if (isLooking || !isDue()) return;
      isLooking = true;
      isUnknown = false;
      const health = await ask();
      isLooking = false;
      problem = health.kind === "problem" ? health.message : undefined;
      simulator.setBotProblem(problem);
    },
    forget() {
      isUnknown = true;
    },
  };
}
