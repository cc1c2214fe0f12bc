import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { Think } from "../../../src/index.ts";
import { askingScript, expectShown } from "../support/asking-bot.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import { say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

afterEach(dropMcpServer);

const sum_up = action({
  description: "Sums it up.",
  inputSchema: z.object({}),
  execute: (_input, { sample }) => sample({ prompt: "Sum it up" }),
});

async function usageOf(world: World): Promise<readonly unknown[]> {
  return runInDurableObject(world.stub as never, (root) =>
    (root as unknown as Think).usage({ by: ["person"] }),
  );
}

const once = { turns: 1, inputTokens: 1, outputTokens: 1 };

it("counts the tokens of ctx.sample in a call for the token's person, whose limit they use up", async () => {
  const mcp = createMcpWorld({
    getActions: () => ({ sum_up }),
    messenger: {
      delivery: { editEveryMs: 0, limitResponseText: "Enough for today." },
      limits: { tokensPerPersonPerDay: 2 },
    },
  });
  const ada = await mcp.token({ person: { messenger: "fake", userId: "ada" } });
  const result = await mcp.call(ada.token, "shop__sum_up", {});
  expect(result["isError"]).toBeUndefined();
  await vi.waitFor(
    async () =>
      expect(await usageOf(mcp.world)).toMatchObject([{ ...once, messengerId: "fake", userId: "ada" }]),
    { timeout: 8000 },
  );
  await mcp.world.write("c1", "Hello");
  await mcp.world.shows("c1", "Enough for today.");
  await mcp.world.write("c2", "Hello", { user: "eve" });
  await mcp.world.shows("c2", "You said: Hello");
});

it("counts those of a call that nobody makes for its token", async () => {
  const mcp = createMcpWorld({ getActions: () => ({ sum_up }), settings: { keepUsageMs: 86_400_000 } });
  const { record, token } = await mcp.token();
  await mcp.call(token, "shop__sum_up", {});
  await vi.waitFor(
    async () => expect(await usageOf(mcp.world)).toMatchObject([{ ...once, userId: `token:${record.id}` }]),
    { timeout: 8000 },
  );
});

it("counts those of an approved call for the person who asked", async () => {
  const act = action({
    description: "Sums it up.",
    inputSchema: z.object({ order: z.string() }),
    approval: true,
    execute: (_input, { sample }) => sample({ prompt: "Sum it up" }),
  });
  const world = createWorld({
    getActions: () => ({ act }),
    script: (request) => (request.isStreamed ? askingScript(request) : [say("a summary")]),
    settings: { keepUsageMs: 86_400_000 },
  });
  await world.write("c1", "Do A7");
  await world.press("c1", "Approve");
  await expectShown(world, 'Told: "a summary"');
  // The turn that asked, the call of the action, and the turn that told its outcome.
  await vi.waitFor(
    async () =>
      expect(await usageOf(world)).toMatchObject([
        { messengerId: "fake", userId: "ada", turns: 3, inputTokens: 3, outputTokens: 3 },
      ]),
    { timeout: 8000 },
  );
});
