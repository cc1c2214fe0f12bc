import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const LINE = "⏳ Reading page 3 40 %";

async function expectGone(world: World): Promise<void> {
  await expect.poll(() => world.chats.visible("c1").join("\n"), { timeout: 8000 }).not.toContain("⏳");
}

describe("progress outside of a turn", () => {
  it("is a line in the chat while an approved call runs, and other answers do not wait for it", async () => {
    const gate = createGate();
    const { world } = createAskingBot(
      async ({ progress }) => {
        progress({ message: "Reading page 2" });
        progress({ message: "Reading page 3", fraction: 0.4 });
        await gate.pass();
        return "exported";
      },
      {},
      { approval: true },
    );
    await world.write("c1", "Do A7");
    await world.press("c1", "Approve");
    await expectShown(world, LINE);
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    gate.open();
    await expectShown(world, 'Told: "exported"');
    await expectGone(world);
  });

  it("is a line in the chat between two questions, and after the last one", async () => {
    const [first, second] = [createGate(), createGate()];
    const { world } = createAskingBot(async (ctx) => {
      const isWanted = await ctx.confirm({ message: "Really?" });
      ctx.progress({ message: "Looking" });
      await first.pass();
      const isSure = await ctx.confirm({ message: "Sure?" });
      ctx.progress({ message: "Writing" });
      await second.pass();
      return { isWanted, isSure };
    });
    await world.write("c1", "Do A7");
    await world.press("c1", "Yes");
    await expectShown(world, "⏳ Looking");
    first.open();
    await expectShown(world, "Sure?");
    await expectGone(world);
    await world.press("c1", "Yes");
    await expectShown(world, "⏳ Writing");
    second.open();
    await expectShown(world, "Told: ");
    await expectGone(world);
  });

  it("goes when the process has died in the run, whatever became of it", async () => {
    const gate = createGate();
    const { world } = createAskingBot(
      async ({ progress }) => {
        progress({ message: "Reading page 3", fraction: 0.4 });
        await gate.pass();
        return "exported";
      },
      {},
      { approval: true },
    );
    await world.write("c1", "Do A7");
    await world.press("c1", "Approve");
    await expectShown(world, LINE);
    await runInDurableObject(world.thread("c1"), async (_bot, state) => {
      await state.storage.sync();
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runDurableObjectAlarm(world.thread("c1"));
    await expectShown(world, "Told: ");
    await expectGone(world);
  });
});
