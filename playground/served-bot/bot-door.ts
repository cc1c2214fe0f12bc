import { readdir } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import type { BotDoor, ScheduleChange } from "../telegram/control/contract.ts";
import type { MovedClock } from "./moved-clock.ts";

export interface BotDoorOptions {
  readonly bot: {
    readonly url: string;
    readonly adminToken: string;
    /** Restarts the bot, on the clock as it is then. */
    reload(): Promise<void>;
    /** Resolves when no restart is under way. */
    reloaded(): Promise<void>;
  };
  readonly clock: MovedClock;
  readonly dataDirectory: string;
}

/** Opens the door that the playground has put into the bot that it serves. */
export function openBotDoor({ bot, clock, dataDirectory }: BotDoorOptions): BotDoor {
  const ask = (operation: string, body: object): Promise<object> =>
    postOnce(`${bot.url}/switchboard/playground/${operation}`, bot.adminToken, body);
  const askAfterRestart = (operation: string, body: object): Promise<object> =>
    ask(operation, body).catch(async (error: unknown) => {
      if (!isRefused(error)) throw error;
      // The bot has heard nothing of it.
      await bot.reloaded();
      return ask(operation, body);
    });
  return {
    shiftMs: () => clock.shiftMs,
    // The bot restarts when its sources change. The page keeps what it shows, and reads again.
    schedules: (chat) =>
      ask("schedules", { chat }).catch((error: unknown) => {
        if (error instanceof Error && "code" in error) return { isAway: true };
        throw error;
      }),
    async changeSchedule(change: ScheduleChange) {
      await askAfterRestart("manage", change);
    },
    async moveClock(time) {
      await clock.moveTo(time, () => bot.reload());
      await askAfterRestart("rearm", { ids: await objectIds(path.join(dataDirectory, "objects")) });
    },
  };
}

/** Posts JSON on a connection of its own: one that is kept breaks when the bot restarts. */
function postOnce(url: string, token: string, body: object): Promise<object> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      // The door opens under a name of this machine only, also if the bot listens elsewhere.
      host: "localhost",
    };
    const request = http.request(url, { method: "POST", headers, agent: false }, (response) => {
      json(response).then((answer) => {
        if (response.statusCode === 200) return resolve(answer as object);
        const { error } = answer as { readonly error?: string };
        return reject(new Error(error ?? `The bot answered ${response.statusCode ?? 0}.`));
      }, reject);
    });
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

/** Returns the ids of all objects on the disk. */
async function objectIds(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.flatMap((file) => /([0-9a-f]{64})\.sqlite$/.exec(file)?.[1] ?? []);
}
