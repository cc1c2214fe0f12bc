import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { killerAt } from "../support/killer.ts";
import { createRefundBot } from "../support/refund-bot.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** The writes of a press, from its handler to its end. */
const WRITES = {
  "the handled press": /INSERT INTO press_v1/,
  "the end of the press": /DELETE FROM press_v1/,
} as const;
const DECIDING = { ...WRITES, "the decision": /UPDATE approval_v1/ } as const;

/** Time passes: an object that has died is woken by its alarm. */
async function until(world: World, isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1"))}`);
    },
    { timeout: 15_000, interval: 50 },
  );
}

describe("a press of an approval's card whose object dies", () => {
  it.each(
    [
      { button: "Approve", writes: DECIDING, shows: "Done" },
      { button: "Reject", writes: DECIDING, shows: "Rejected" },
      { button: "More", writes: WRITES, shows: "Less" },
    ].flatMap(({ button, shows, writes }) =>
      Object.entries(writes).flatMap(([what, pattern]) =>
        (["before", "after"] as const).map((when) => ({ button, what, when, pattern, shows })),
      ),
    ),
  )(
    "counts once, and is never interrupted: $button, $when $what",
    async ({ button, pattern, shows, when }) => {
      let hasPressed = false;
      const killer = killerAt(pattern, when, () => hasPressed);
      const { effects, world } = createRefundBot({}, { onStart: (agent) => killer.arm(agent) });
      await world.write("c1", "Refund 7");
      await until(world, () => world.chats.button("c1", button) !== undefined);
      const text = world.chats.button("c1", button);
      hasPressed = true;
      const press = { kind: "press", id: "press", chat: "c1", user: "ada", text } as const;
      await vi.waitFor(async () => expect(await world.post(press).catch(() => 500)).toBe(200), 8000);
      const isShown = (): boolean =>
        button === "More"
          ? world.chats.button("c1", shows) !== undefined
          : world.chats.visible("c1").join().includes(shows);
      await until(world, isShown);
      await until(world, () => world.chats.answered.includes("press"));
      await until(world, () => killer.hasStruck() && killer.lives() === 2);
      expect([undefined, "Approved.", "Rejected."]).toContain(world.chats.notices.get("press"));
      expect(effects).toEqual(button === "Approve" ? ["7"] : []);
    },
  );
});
