import { runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

/** The section "Dynamic configuration". */
type MyConfig = { modelTier: "fast" | "capable"; systemPrompt: string };

it("getConfig chooses the model, also after the object has died", async () => {
  const world = createWorld({
    getModel: (agent) => {
      const tier = agent.getConfig<MyConfig>()?.modelTier ?? "fast";
      return scriptedModel(
        agent.name,
        () => [say(`I am ${tier}.`)],
        () => undefined,
      );
    },
  });
  await world.write("c1", "hello");
  await world.shows("c1", "I am fast.");
  await runInDurableObject(world.thread("c1"), (bot) =>
    bot.configure<MyConfig>({ modelTier: "capable", systemPrompt: "" }),
  );
  await runInDurableObject(world.thread("c1"), (_bot, state) => state.abort("killed by a test")).catch(
    () => undefined,
  );
  await world.write("c1", "hello");
  await world.shows("c1", "I am fast.", "I am capable.");
  await runInDurableObject(world.thread("c2"), (bot) => expect(bot.getConfig()).toBeNull());
});
