import { readdir } from "node:fs/promises";
import path from "node:path";
import type { BotDoor, ScheduleChange } from "../telegram/control/contract.ts";
import type { MovedClock } from "./moved-clock.ts";

export interface BotDoorOptions {
  readonly bot: {
    readonly url: string;
    readonly adminToken: string;
    /** Restarts the bot, on the clock as it is then. */
    reload(): Promise<void>;
  };
  readonly clock: MovedClock;
  readonly dataDirectory: string;
}

/** Opens the door that the playground has put into the bot that it serves. */
export function openBotDoor({ bot, clock, dataDirectory }: BotDoorOptions): BotDoor {
  const ask = async (operation: string, body: object): Promise<object> => {
    const response = await fetch(`${bot.url}/switchboard/playground/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bot.adminToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { readonly error?: string };
    if (!response.ok) throw new Error(answer.error ?? `The bot answered ${response.status}.`);
    return answer;
  };
  return {
    shiftMs: () => clock.shiftMs,
    schedules: (chat) => ask("schedules", { chat }),
    async changeSchedule(change: ScheduleChange) {
      await ask("manage", change);
    },
    async moveClock(time) {
      await clock.moveTo(time, () => bot.reload());
      await ask("rearm", { ids: await objectIds(path.join(dataDirectory, "objects")) });
    },
  };
}

/** Returns the ids of all objects on the disk. */
async function objectIds(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.flatMap((file) => /([0-9a-f]{64})\.sqlite$/.exec(file)?.[1] ?? []);
}
