import { expect, it, vi } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import type { Think } from "../../../src/index.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import { createWorld } from "../support/world.ts";

it("keeps the tokens of every conversation at the root, if the bot asks for it", async () => {
  const world = createWorld({
    settings: { keepUsageMs: 86_400_000, modelPrices: { scripted: { input: 1_000_000, output: 1_000_000 } } },
  });
  for (const [id, user] of [
    ["c1", "ada"],
    ["c2", "bob"],
  ] as const) {
    await world.post({ id, chat: id, user, text: "Hello" });
    await world.shows(id, "You said: Hello");
  }
  const usage = () =>
    runInDurableObject(world.stub as never, (root) =>
      (root as unknown as Think).usage({ by: ["chat", "person"] }),
    );
  await vi.waitFor(async () =>
    expect(await usage()).toEqual([
      {
        messengerId: "fake",
        chatId: "c1",
        userId: "ada",
        turns: 1,
        inputTokens: 1,
        outputTokens: 1,
        cost: expect.any(Number),
      },
      {
        messengerId: "fake",
        chatId: "c2",
        userId: "bob",
        turns: 1,
        inputTokens: 1,
        outputTokens: 1,
        cost: expect.any(Number),
      },
    ]),
  );
});

it("counts the turns of scheduled tasks, and the occurrence has their cost", async () => {
  const world = createWorld({
    settings: {
      keepUsageMs: 86_400_000,
      modelPrices: { "scripted-1": { input: 1_000_000, output: 1_000_000 } },
    },
    scheduledTasks: () => ({
      night: {
        schedule: "every month on 1 at 00:00 in UTC",
        prompt: "Write it.",
        deliverTo: { messenger: "fake", chatId: "c1" },
      },
    }),
  });
  await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" });
  await world.shows("c1", "You said: Hello");
  await world.stub.schedules.run("night");
  await vi.waitFor(
    async () => {
      const [occurrence] = await world.stub.schedules.occurrences();
      expect(occurrence).toMatchObject({ state: "delivered", usage: { input: 1, output: 1, cost: 2 } });
      const usage = await runInDurableObject(world.stub as never, (root) =>
        (root as unknown as Think).usage({ by: ["person"] }),
      );
      expect(usage).toContainEqual({
        messengerId: "",
        userId: "task:night",
        turns: 1,
        inputTokens: 1,
        outputTokens: 1,
        cost: 2,
      });
    },
    { timeout: 8000 },
  );
});

it("keeps none by default", async () => {
  const world = createWorld();
  await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" });
  await world.shows("c1", "You said: Hello");
  expect(await runInDurableObject(world.stub as never, (root) => (root as unknown as Think).usage())).toEqual(
    [],
  );
});

it.each([
  ["approved", "Approve", { approval: true }],
  ["answered", "Yes", {}],
])(
  "counts the turn about an action that was %s for the person who asked for it",
  async (_what, button, options) => {
    const settings = { keepUsageMs: 86_400_000 };
    const isAsking = button === "Yes";
    const { world } = createAskingBot(
      (ctx) => (isAsking ? ctx.confirm({ message: "Shall I?" }) : "done"),
      { settings },
      options,
    );
    await world.write("c1", "Do A7");
    await world.press("c1", button);
    await expectShown(world, "Told:");
    await vi.waitFor(
      async () =>
        expect(
          await runInDurableObject(world.stub as never, (root) =>
            (root as unknown as Think).usage({ by: ["chat", "person"] }),
          ),
        ).toMatchObject([{ chatId: "c1", userId: "ada", turns: 2 }]),
      { timeout: 8000, interval: 20 },
    );
  },
);
