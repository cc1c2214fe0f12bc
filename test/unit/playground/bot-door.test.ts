import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBotDoor } from "../../../playground/served-bot/bot-door.ts";
import { openMovedClock } from "../../../playground/served-bot/moved-clock.ts";
import type { BotDoor } from "../../../playground/telegram/control/contract.ts";

/** A bot that a test takes away and brings back at the same port, as a restart does. */
let asked: unknown[];
let door: BotDoor;
let folder: string;
let port: number;
let reloaded: () => Promise<void>;
let server: http.Server | undefined;

const start = async (): Promise<void> => {
  server = http.createServer((request, response) => {
    void json(request).then((body) => {
      asked.push([request.url?.split("/").at(-1), body]);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ bot: [] }));
    });
  });
  await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
};
const stop = async (): Promise<void> => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
};

beforeEach(async () => {
  asked = [];
  port = 0;
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-door-"));
  reloaded = () => Promise.resolve();
  await start();
  const bot = {
    url: `http://127.0.0.1:${port}`,
    adminToken: "token",
    reload: () => Promise.resolve(),
    reloaded: () => reloaded(),
  };
  door = openBotDoor({ bot, clock: await openMovedClock(folder), dataDirectory: folder });
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

describe("the door to a bot that restarts", () => {
  const change = { taskId: "#1", action: "run" } as const;

  it("makes a change when the bot is back, once", async () => {
    await stop();
    reloaded = start;
    await door.changeSchedule(change);
    expect(asked).toEqual([["manage", change]]);
  });

  it("reports a bot that does not come back", async () => {
    await stop();
    await expect(door.changeSchedule(change)).rejects.toThrow("ECONNREFUSED");
  });

  it("does not repeat a change that the bot may have made", async () => {
    const cut = new Promise<void>((resolve) => {
      server?.removeAllListeners("request").once("request", (request: http.IncomingMessage) => {
        asked.push("cut");
        request.socket.destroy();
        resolve();
      });
    });
    await expect(door.changeSchedule(change)).rejects.toThrow("socket hang up");
    await cut;
    expect(asked).toEqual(["cut"]);
  });

  it("says that the bot is away, also if it stops in the middle of the answer", async () => {
    server?.removeAllListeners("request").once("request", (request: http.IncomingMessage) => {
      request.socket.destroy();
    });
    expect(await door.schedules(undefined)).toEqual({ isAway: true });
    await stop();
    expect(await door.schedules(undefined)).toEqual({ isAway: true });
  });
});
