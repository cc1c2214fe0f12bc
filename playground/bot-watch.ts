import type { Health } from "../scripts/serve/health.ts";
import type { Simulator } from "./telegram/simulator.ts";

export interface BotWatchOptions {
  /** Reads the bot's answer at `/health`. */
  readonly ask: () => Promise<Health>;
  readonly simulator: Pick<Simulator, "setBotProblem" | "updates">;
}

/**
 * Shows on the page why the bot cannot answer. The webhook tells only a status, as Telegram would see it.
 *
 * `look` asks the bot at its start, while there is a problem, and when an update was not accepted.
 */
export function createBotWatch({ ask, simulator }: BotWatchOptions): { look(): Promise<void> } {
  let isFirst = true;
  let problem: string | undefined;
  let isLooking = false;
  const isDue = (): boolean =>
    isFirst ||
    problem !== undefined ||
    simulator.updates().some(({ attempts, state }) => state === "pending" && attempts.length > 0);

  return {
    async look() {
      if (isLooking || !isDue()) return;
      isLooking = true;
      isFirst = false;
      const health = await ask();
      isLooking = false;
      problem = health.kind === "problem" ? health.message : undefined;
      simulator.setBotProblem(problem);
    },
  };
}
