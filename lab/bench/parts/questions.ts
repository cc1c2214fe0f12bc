import { setTimeout as delay } from "node:timers/promises";
import { cpuMs } from "../process-tree.ts";
import { quantile } from "../statistics.ts";
import { withActions } from "./consent.ts";
import type { Part } from "./context.ts";

const PRESSES_A_ROUND = 20;
const WAITING = 100;
const SETTLE_MS = 4_000;
const IDLE_MS = 10_000;

/**
 * A press that answers a question of an action, beside a press of a plain card in the same run: until the person has the
 * answer to the press, and until the action has gone on to its effect. Then the CPU of a bot while questions wait.
 */
export const questionsPart: Part = async ({ report, rounds }) => {
  await withActions(async (contender, effects) => {
    const { name } = contender;
    const plain: number[] = [];
    const answered: number[] = [];
    const went: number[] = [];
    for (let press = 0; press < rounds * PRESSES_A_ROUND; press += 1) {
      const chat = contender.freshChat();
      const card = await contender.command(chat, "/card", ["sendMessage"]);
      plain.push((await contender.press(chat, card.messageId, ["answerCallbackQuery"])).afterMs);
      const id = `sure${press}`;
      const question = await contender.command(chat, `run sure 1 ${id} ${effects.urlOf(id)}`, [
        "sendMessage",
      ]);
      const startedAt = Date.now();
      const pressed = contender.press(chat, question.messageId, ["answerCallbackQuery"]);
      went.push((await effects.arrival(`${id}.0`)) - startedAt);
      answered.push((await pressed).afterMs);
      // Its outcome must not slow down the next one.
      await delay(500);
    }
    const add = (what: string, times: readonly number[]): void => {
      for (const [label, share] of [
        ["p50", 0.5],
        ["p95", 0.95],
      ] as const)
        report.add("questions", `${what}, ${label}`, "ms", name, quantile(times, share));
    };
    add("press of a plain card to its answer", plain);
    add("press that answers a question to its answer", answered);
    add("press that answers a question to the effect", went);

    const idle = async (): Promise<number> => {
      await delay(SETTLE_MS);
      const before = cpuMs(contender.bot.pid);
      await delay(IDLE_MS);
      return cpuMs(contender.bot.pid) - before;
    };
    report.add("questions", "CPU of 10 s without waiting questions", "ms", name, await idle());
    for (let question = 0; question < WAITING; question += 1) {
      const id = `waits${question}`;
      await contender.command(contender.freshChat(), `run sure 1 ${id} ${effects.urlOf(id)}`, [
        "sendMessage",
      ]);
    }
    report.add("questions", `CPU of 10 s with ${WAITING} waiting questions`, "ms", name, await idle());
  });
};
