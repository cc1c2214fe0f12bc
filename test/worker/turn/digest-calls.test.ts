import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { ScriptedBot } from "../worker.ts";
import { captureLog } from "../support/log-lines.ts";
import { digest, MONTHLY, start, to, untilEnded } from "../support/scheduled-world.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
afterEach(() => void vi.restoreAllMocks());

const CHATS = ["c1", "c2", "c3"];

/**
 * Counts the calls between the objects of a bot from now on. A loan of the bot's budget ends with time: on a slow machine
 * a chat takes a second one.
 */
function counted(): () => string[] {
  const inner = vi.spyOn(ScriptedBot.prototype, "inner");
  return () =>
    inner.mock.calls
      .map(([method]) => method)
      .filter((method, at, all) => method !== "budget.lend" || all.indexOf(method) === at);
}

/** The time at which the root looks at its digest by itself, in epoch milliseconds. */
function nextLook(world: World): Promise<number> {
  return runInDurableObject(world.stub, (_bot, { storage }) =>
    Number(storage.sql.exec("SELECT next_at FROM occurrence_v1").one()["next_at"]),
  );
}

async function digestTo(deliverTo: "subscribers" | readonly ReturnType<typeof to>[]): Promise<World> {
  const world = await start({ digest: { ...MONTHLY, prompt: "Write it.", deliverTo } }, {}, CHATS);
  for (const chat of CHATS) await world.stub.broadcasts.subscribe(to(chat));
  return world;
}

describe("a digest to three chats", () => {
  it.each([
    ["that its task names", CHATS.map(to)],
    ["that have subscribed", "subscribers" as const],
  ])("takes at most eight calls between objects: chats %s", async (_which, deliverTo) => {
    const world = await digestTo(deliverTo);
    world.script(digest);
    const calls = counted();
    await world.stub.schedules.run("digest");
    const [occurrence] = await untilEnded(world, "digest");
    expect(occurrence).toMatchObject({ state: "delivered", broadcastId: expect.any(String) as string });
    expect(calls().slice(8)).toEqual([]);
    for (const chat of CHATS) expect(world.chats.visible(chat).at(-1)).toBe("The digest.");
  });

  it("is waited for without a call, however long its model takes", async () => {
    const world = await digestTo(CHATS.map(to));
    const gate = createGate();
    world.script(() => [say("The "), holdAt(gate), say("digest.")]);
    const calls = counted();
    await world.stub.schedules.run("digest");
    await untilReached(gate);
    await vi.waitFor(async () => expect(await nextLook(world)).toBeGreaterThan(Date.now() + 30_000), 8000);
    expect(calls()).toEqual(["scheduled-runs.submit"]);
    gate.open();
    expect(await untilEnded(world, "digest")).toMatchObject([{ state: "delivered" }]);
    expect(calls().slice(8)).toEqual([]);
  });
});
