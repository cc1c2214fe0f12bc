import { expect, it, vi } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import type { Think } from "../../../src/index.ts";
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

it("keeps none by default", async () => {
  const world = createWorld();
  await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" });
  await world.shows("c1", "You said: Hello");
  expect(await runInDurableObject(world.stub as never, (root) => (root as unknown as Think).usage())).toEqual(
    [],
  );
});
