import { expect, it } from "vitest";
import { createBotWatch } from "../../../playground/bot-watch.ts";
import type { Health } from "../../../ops/serve/health.ts";
import { startSimulator } from "../../../playground/telegram/simulator.ts";

const PROBLEM: Health = { kind: "problem", code: "x", message: "telegramMessenger needs `token`." };

/** A simulator whose webhook refuses everything, and what its page is told of the bot. */
async function createRig() {
  const simulator = await startSimulator({ webhook: { url: "http://127.0.0.1:9/hook" } });
  const state: { health: Health; asked: number } = { health: { kind: "ready" }, asked: 0 };
  const watch = createBotWatch({
    simulator,
    ask: () => {
      state.asked += 1;
      return Promise.resolve(state.health);
    },
  });
  const shown = async (): Promise<unknown> => {
    const answer = await fetch(`${simulator.url}/_sim/state`);
    return ((await answer.json()) as { webhook: { botProblem?: string } }).webhook.botProblem;
  };
  return { simulator, state, watch, shown };
}

it("shows what the bot says is wrong, and takes it away when it is right", async () => {
  const { shown, simulator, state, watch } = await createRig();
  state.health = PROBLEM;
  await watch.look();
  expect(await shown()).toBe("telegramMessenger needs `token`.");
  state.health = { kind: "ready" };
  await watch.look();
  expect(await shown()).toBeUndefined();
  await simulator.close();
});

it("asks a bot that is well once, and again when it does not take an update", async () => {
  const { shown, simulator, state, watch } = await createRig();
  for (let count = 0; count < 3; count += 1) await watch.look();
  expect(state.asked).toBe(1);
  const alex = simulator.addUser();
  simulator.sendText(simulator.privateChat(alex), alex, "Hello");
  await simulator.waitFor(() => simulator.webhookProblem() !== undefined);
  state.health = PROBLEM;
  await watch.look();
  expect([state.asked, await shown()]).toEqual([2, "telegramMessenger needs `token`."]);
  await simulator.close();
});

it("asks a bot that is well again after it was loaded again", async () => {
  const { shown, simulator, state, watch } = await createRig();
  await watch.look();
  state.health = PROBLEM;
  await watch.look();
  expect(await shown()).toBeUndefined();
  watch.forget();
  await watch.look();
  expect([state.asked, await shown()]).toEqual([2, "telegramMessenger needs `token`."]);
  await simulator.close();
});
