import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { BOT } from "../../../src/agent/bot-root.ts";
import { FEATURES, setFeatures } from "../../../src/agent/features.ts";
import { createWorker } from "../../../src/create-worker.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { action } from "../../../src/index.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";

afterEach(() => setFeatures(ScriptedBot, FEATURES));

/** A bot that was built without a feature. */
function worldWithout(name: string, options: WorldOptions = {}): World {
  setFeatures(
    ScriptedBot,
    FEATURES.filter((feature) => feature.name !== name),
  );
  return createWorld({
    script: ({ said }) => [say(`heard ${said}`)],
    settings: { chatSchedules: name !== "schedules", subscribeCommands: name !== "broadcasts" },
    ...options,
  });
}

async function problemOf(world: World): Promise<unknown> {
  return callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem();
}

describe.each(FEATURES.map(({ name }) => name))("a bot without %s", (name) => {
  it("starts, chats, and passes /health", async () => {
    const world = worldWithout(name);
    expect(await problemOf(world)).toBeUndefined();
    await world.write("c1", "one");
    await world.shows("c1", "heard one");
    await world.write("c1", "two");
    await world.shows("c1", "heard one", "heard two");
  });
});

it.each([
  ["approvals", "/admin/approvals"],
  ["submissions", "/conversations/named:reports/submissions/1"],
])("serves the paths of %s only in a bot that has it", async (name, path) => {
  const ask = async ({ root }: World): Promise<number | undefined> => {
    const request = new Request<unknown, IncomingRequestCfProperties>(`https://bot.example${path}`);
    const { fetch } = createWorker<typeof testEnv>(ScriptedBot, { root });
    return (await fetch?.(request, testEnv, createExecutionContext()))?.status;
  };
  expect(await ask(createWorld())).toBe(401);
  expect(await ask(worldWithout(name))).toBe(404);
});

it("names the feature that a call of the bot's class lacks", async () => {
  const world = worldWithout("submissions");
  await runInDurableObject(world.stub, async (bot) => {
    await expect(bot.submitMessages("Hi")).rejects.toThrow('This bot was built without "submissions".');
  });
});

it("never runs an action unasked that needs consent, in a bot without approvals", async () => {
  let runs = 0;
  const refund = action({
    description: "Pays money back.",
    inputSchema: z.object({}),
    approval: true,
    execute: () => (runs += 1),
  });
  const world = worldWithout("approvals", {
    getActions: () => ({ refund }),
    script: ({ said }) => (said === "Refund" ? [callTool("refund", {})] : [say("done")]),
  });
  expect(await problemOf(world)).toMatchObject({ status: "misconfigured", code: "approvals-missing" });
  await world.write("c1", "Refund");
  await expect.poll(() => world.chats.visible("c1").at(-1), { timeout: 8000 }).toMatch(/^Sorry/);
  expect(runs).toBe(0);
});
