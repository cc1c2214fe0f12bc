import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { memoryMib } from "../process-tree.ts";
import { ask } from "../reply-script.ts";
import { median, quantile } from "../statistics.ts";
import type { Part } from "./context.ts";
import { ratePerSecond } from "./webhook.ts";

const MILESTONES = [10, 100, 1_000];
const AT_ONCE = 8;

/** Times of the webhook and a reply, after many threads have had a reply of five tokens. */
export const threadsPart: Part = async ({ report, bots }) => {
  await withContenders(bots, async (contenders) => {
    const touched = new Map<Contender, number>();
    for (const milestone of MILESTONES) {
      for (const contender of contenders) {
        await touch(contender, milestone - (touched.get(contender) ?? 0));
        touched.set(contender, milestone);
        await delay(4_000);
        const times: number[] = [];
        for (let index = 0; index < 200; index += 1) {
          times.push(await contender.client.post(contender.chatter(index % 20)));
        }
        const answers = [];
        for (let index = 0; index < 8; index += 1) {
          answers.push(await contender.ask(contender.freshChat(), ask(20, 25)));
        }
        const add = (metric: string, unit: string, value: number): void =>
          report.add("threads", `${milestone} threads: ${metric}`, unit, contender.name, value);
        add("webhook to 200, p50", "ms", quantile(times, 0.5));
        add("webhooks, 8 clients", "1/s", await ratePerSecond(contender));
        add("first text, p50", "ms", median(answers.map(({ firstTextMs }) => firstTextMs)));
        add("final text, p50", "ms", median(answers.map(({ finalTextMs }) => finalTextMs)));
        add("memory", "MiB", memoryMib(contender.bot.pid));
      }
    }
  });
};

async function touch(contender: Contender, count: number): Promise<void> {
  let left = count;
  const person = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await contender.ask(contender.freshChat(), ask(5, 0));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, person));
}
