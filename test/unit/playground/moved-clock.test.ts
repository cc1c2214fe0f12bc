import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLOCK_FILE, openMovedClock } from "../../../playground/served-bot/moved-clock.ts";
import { withDoor } from "../../../playground/served-bot/worker/door.js";
import { movable } from "../../../playground/served-bot/worker/movable.js";
import { shiftDate } from "../../../playground/served-bot/worker/shift-date.js";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 22);

describe("the playground's clock", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "switchboard-clock-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("moves forward, and stays there over a restart", async () => {
    const clock = await openMovedClock(folder, () => NOW);
    expect(clock.now()).toBe(NOW);
    let during = 0;
    await clock.moveTo(NOW + HOUR_MS, async () => {
      during = clock.now();
    });
    expect(during).toBe(NOW + HOUR_MS);
    const again = await openMovedClock(folder, () => NOW + 60_000);
    expect(again.now()).toBe(NOW + HOUR_MS + 60_000);
  });

  it("never moves back, nor further than ten years", async () => {
    const clock = await openMovedClock(folder, () => NOW);
    await clock.moveTo(NOW + HOUR_MS, () => Promise.resolve());
    await expect(clock.moveTo(NOW, () => Promise.resolve())).rejects.toThrow("only moves forward");
    await expect(clock.moveTo(NOW * 2, () => Promise.resolve())).rejects.toThrow("too far away");
    expect(clock.shiftMs).toBe(HOUR_MS);
  });

  it("stays as it was if the bot does not start on the moved one", async () => {
    const clock = await openMovedClock(folder, () => NOW);
    const broken = (): Promise<void> => Promise.reject(new Error("not bundled"));
    await expect(clock.moveTo(NOW + HOUR_MS, broken)).rejects.toThrow("not bundled");
    expect(clock.shiftMs).toBe(0);
    await expect(readFile(path.join(folder, CLOCK_FILE))).rejects.toThrow("ENOENT");
  });
});

describe("a shifted Date", () => {
  const RealDate = globalThis.Date;
  afterEach(() => {
    globalThis.Date = RealDate;
  });

  it("tells the moved time wherever it is asked, and is a Date otherwise", () => {
    shiftDate(24 * HOUR_MS);
    const ahead = (time: number): number => Math.round((time - RealDate.now()) / HOUR_MS);
    expect(ahead(Date.now())).toBe(24);
    expect(ahead(new Date().getTime())).toBe(24);
    expect(ahead(RealDate.parse(Date()))).toBe(24);
    expect(new Date(NOW).getTime()).toBe(NOW);
    expect(Date.UTC(2026, 10, 22)).toBe(NOW);
    expect(new Date()).toBeInstanceOf(Date);
    expect(new RealDate()).toBeInstanceOf(Date);
    expect(new (class Own extends Date {})(NOW).getTime()).toBe(NOW);
  });
});

describe("alarms on a moved clock", () => {
  it("fire by the machine's clock, and are read by the moved one", async () => {
    let stored: number | undefined;
    class Storage {
      async setAlarm(time: number): Promise<void> {
        stored = time;
      }
      async getAlarm(): Promise<number | null> {
        return stored ?? null;
      }
    }
    class Base {
      readonly storage: Storage;
      constructor({ storage }: { readonly storage: Storage }) {
        this.storage = storage;
      }
    }
    const Moved = movable(Base, HOUR_MS) as typeof Base;
    expect(Moved.name).toBe("Base");
    const { storage } = new Moved({ storage: new Storage() });
    expect(await storage.getAlarm()).toBeNull();
    await storage.setAlarm(NOW + HOUR_MS);
    expect(stored).toBe(NOW);
    expect(await storage.getAlarm()).toBe(NOW + HOUR_MS);
  });
});

describe("the door of a served bot", () => {
  const bot = { fetch: () => Promise.resolve(new Response("the bot")) };
  const door = withDoor(bot, {}) as {
    fetch(request: Request, env: object, context: object): Promise<Response>;
  };
  const ask = (
    env: object,
    authorization?: string,
    { host = "localhost", ...headers }: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    door.fetch(
      new Request(`http://${host}/switchboard/playground/nothing`, {
        method: "POST",
        headers: { ...(authorization !== undefined && { authorization }), ...headers },
      }),
      env,
      {},
    );

  it("opens with the token of this run only", async () => {
    const env = { ADMIN_TOKEN: "made-up" };
    expect((await ask(env)).status).toBe(401);
    expect((await ask(env, "Bearer other")).status).toBe(401);
    expect((await ask({}, "Bearer undefined")).status).toBe(401);
    expect((await ask(env, "Bearer made-up")).status).toBe(404);
  });

  it("opens under a name of this machine only, and to no page", async () => {
    const env = { ADMIN_TOKEN: "made-up" };
    for (const host of ["127.0.0.1:8787", "localhost:8787", "[::1]:8787"]) {
      expect((await ask(env, "Bearer made-up", { host })).status).toBe(404);
    }
    for (const [name, value] of [
      ["host", "evil.example"],
      ["origin", "http://evil.example"],
      ["origin", "null"],
    ] as const) {
      expect((await ask(env, "Bearer made-up", { [name]: value })).status).toBe(403);
    }
  });

  it("passes on everything else", async () => {
    const answer = await door.fetch(new Request("http://bot/health"), {}, {});
    expect(await answer.text()).toBe("the bot");
  });
});
