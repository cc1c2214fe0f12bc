import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { cpuMs } from "../process-tree.ts";
import { ask, replyText } from "../reply-script.ts";
import { mean, median, quantile } from "../statistics.ts";
import { addSlowest, streamAtOnce } from "./chats.ts";
import type { Part } from "./context.ts";

const LONG_TOKENS = 2_400;
const LENGTHS = [200, 800, 3_200];
const PENALTY_S = 3;

/** A reply of 12,000 characters at 200 tokens a second. */
export const longPart: Part = async ({ report, bots }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders) {
      await contender.ask(contender.freshChat(), ask(5, 0));
      await delay(3_000);
      const chat = contender.freshChat();
      const cpuBefore = cpuMs(contender.bot.pid);
      const answer = await contender.ask(chat, ask(LONG_TOKENS, 5), 90_000);
      await delay(3_000);
      const visible = contender.simulator
        .messages(chat.chat)
        .filter(({ from }) => from.isBot)
        .map(({ text }) => text ?? "");
      const isWhole = words(visible.join(" ")) === words(replyText(LONG_TOKENS));
      const add = (metric: string, unit: string, value: number | string): void =>
        report.add("long", `12,000 characters: ${metric}`, unit, contender.name, value);
      add("final text after the last token", "ms", answer.finalTextMs);
      add("CPU", "ms", cpuMs(contender.bot.pid) - cpuBefore);
      add("calls", "", answer.calls.length);
      add("messages", "", visible.length);
      add("whole and in order", "", isWhole ? "yes" : "no");
    }
  });
};

/** Fifty chats at once. */
export const fiftyPart: Part = async ({ report, bots }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders) {
      await streamAtOnce(contender, 3);
      await delay(3_000);
      const { answers, cpuMsAReply } = await streamAtOnce(contender, 50);
      const add = (metric: string, unit: string, value: number): void =>
        report.add("fifty", `50 chats at once: ${metric}`, unit, contender.name, value);
      addSlowest(add, answers);
      add("CPU a reply", "ms", cpuMsAReply);
      add("calls a reply", "", mean(answers.map(({ calls }) => calls.length)));
      add("not whole", "", answers.filter(({ isComplete }) => !isComplete).length);
    }
  });
};

/** Ten chats; one call of each is refused with a penalty of three seconds, in the middle of its reply. */
export const stormPart: Part = async ({ report, bots }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders) {
      await contender.ask(contender.freshChat(), ask(5, 0));
      await delay(3_000);
      const chats = Array.from({ length: 10 }, () => contender.freshChat());
      for (const { chat } of chats) {
        contender.simulator.fault({
          kind: "429",
          retryAfter: PENALTY_S,
          chatId: chat.id,
          method: /sendMessage|editMessageText/,
          skip: 1,
        });
      }
      const answers = await Promise.all(chats.map((chat) => contender.ask(chat, ask(120, 25), 45_000)));
      await delay(1_000);
      const during = chats.map(({ chat }) => callsDuringPenalty(contender, chat.id));
      const add = (metric: string, unit: string, value: number): void =>
        report.add("storm", `429 in ten chats: ${metric}`, unit, contender.name, value);
      add(
        "refused calls",
        "",
        contender.simulator.calls({ outcome: "error" }).filter(({ errorCode }) => errorCode === 429).length,
      );
      add(
        "calls during penalties",
        "",
        during.reduce((sum, count) => sum + count, 0),
      );
      add("replies not whole after 45 s", "", answers.filter(({ isComplete }) => !isComplete).length);
      add(
        "final text after the last token, p95",
        "ms",
        quantile(
          answers.map((answer) => answer.finalTextMs),
          0.95,
        ),
      );
    }
  });
};

/** The cost of a streamed token in replies of different lengths: one chat, 200 tokens a second. */
export const tokensPart: Part = async ({ report, bots, rounds }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders)
      for (let index = 0; index < 3; index += 1) await costMs(contender, 50);
    for (const length of LENGTHS) {
      const costs = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
      for (let round = 0; round < Math.min(rounds, 3); round += 1) {
        for (const contender of contenders) costs.get(contender)?.push(await costMs(contender, length));
      }
      for (const contender of contenders) {
        const value = median(costs.get(contender) ?? []) / length;
        report.add("tokens", `CPU a token, reply of ${length} tokens`, "ms", contender.name, value);
      }
    }
  });
};

async function costMs(contender: Contender, tokens: number): Promise<number> {
  const before = cpuMs(contender.bot.pid);
  await contender.ask(contender.freshChat(), ask(tokens, 5));
  await delay(500);
  return cpuMs(contender.bot.pid) - before;
}

/** Calls to the chat that arrived after a refusal was answered and before its penalty was over. */
function callsDuringPenalty(contender: Contender, chatId: number): number {
  const calls = contender.simulator.calls({ chatId });
  const penalties = calls
    .filter(({ errorCode }) => errorCode === 429)
    .map((call) => ({ from: call.at + (call.durationMs ?? 0), until: call.at + PENALTY_S * 1000 }));
  return calls.filter(({ at }) => penalties.some(({ from, until }) => at > from && at < until)).length;
}

function words(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(" ");
}
