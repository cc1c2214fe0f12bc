import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Answer, type BenchChat, type Contender } from "../contender.ts";
import { ask } from "../reply-script.ts";
import { mean, quantile } from "../statistics.ts";
import type { PartContext, Part } from "./context.ts";

const TOKENS = 40;
const PACE_MS = 25;
const REPLIES_A_ROUND = 4;
/** Pause before the next person writes. Work after a reply is done by then. */
const PAUSE_MS = 300;
/** Time after which a chat's budget is full again. */
const REST_MS = 3_500;

/** Latency for a person who writes alone: new chats, then the same chats after a rest. */
export const latencyPart: Part = async ({ report, bots, rounds }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders) await contender.ask(contender.freshChat(), ask(5, 0));
    await delay(REST_MS);
    const fresh = new Map<Contender, Answer[]>(contenders.map((contender) => [contender, []]));
    const known = new Map<Contender, Answer[]>(contenders.map((contender) => [contender, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const contender of contenders) {
        const chats = Array.from({ length: REPLIES_A_ROUND }, () => contender.freshChat());
        fresh.get(contender)?.push(...(await answersOf(contender, chats)));
        await delay(REST_MS);
        known.get(contender)?.push(...(await answersOf(contender, chats)));
      }
    }
    for (const contender of contenders) {
      addAnswers(report, "latency", "new chat", contender, fresh.get(contender) ?? []);
      addAnswers(report, "latency", "known chat", contender, known.get(contender) ?? []);
    }
  });
};

export async function answersOf(contender: Contender, chats: readonly BenchChat[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const chat of chats) {
    await delay(PAUSE_MS);
    answers.push(await contender.ask(chat, ask(TOKENS, PACE_MS)));
  }
  return answers;
}

export function addAnswers(
  report: PartContext["report"],
  part: string,
  label: string,
  contender: Contender,
  answers: readonly Answer[],
): void {
  const add = (metric: string, unit: string, value: number): void =>
    report.add(part, `${metric}, ${label}`, unit, contender.name, value);
  const webhook = answers.map(({ webhookMs }) => webhookMs);
  const first = answers.map(({ firstTextMs }) => firstTextMs);
  const final = answers.map(({ finalTextMs }) => finalTextMs);
  add("message that starts a turn to 200, p50", "ms", quantile(webhook, 0.5));
  add("message that starts a turn to 200, p95", "ms", quantile(webhook, 0.95));
  add("first text after the message, p50", "ms", quantile(first, 0.5));
  add("first text after the message, p95", "ms", quantile(first, 0.95));
  add("final text after the last token, p50", "ms", quantile(final, 0.5));
  add("final text after the last token, p95", "ms", quantile(final, 0.95));
  add("Bot API calls a reply", "", mean(answers.map(({ calls }) => calls.length)));
}
