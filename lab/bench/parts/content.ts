import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { cpuMs, memoryMib } from "../process-tree.ts";
import { median, quantile } from "../statistics.ts";
import type { Part } from "./context.ts";

const PRESSES_A_ROUND = 40;
const DOCUMENT_MIB = 20;
const SETTLE_MS = 4_000;
const WATCH_MS = 20;

/**
 * The time from a press to its answer, beside the time that a bare object takes to store a message in the same run.
 * Each press is of a card of its own.
 */
export const pressesPart: Part = async ({ bare, report, rounds }) => {
  await withContenders(["content", ...bare.slice(0, 1)], async (contenders) => {
    const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const contender of contenders) {
        for (let index = 0; index < PRESSES_A_ROUND; index += 1)
          times.get(contender)?.push(await onceOf(contender, index));
      }
    }
    for (const [contender, all] of times) {
      const what = contender.isBot ? "press to its answer" : "message to 200";
      report.add("presses", `${what}, p50`, "ms", contender.name, quantile(all, 0.5));
      report.add("presses", `${what}, p95`, "ms", contender.name, quantile(all, 0.95));
    }
  });
};

async function onceOf(contender: Contender, index: number): Promise<number> {
  if (!contender.isBot) return contender.client.post(contender.chatter(index));
  const chat = contender.freshChat();
  const card = await contender.command(chat, "/card", ["sendMessage"]);
  const { afterMs } = await contender.press(chat, card.messageId, ["answerCallbackQuery"]);
  return afterMs;
}

/** A document of 20 MiB: the time until the platform has it, its CPU time, and how much the memory grows meanwhile. */
export const documentsPart: Part = async ({ report, rounds }) => {
  await withContenders(["content"], async (contenders) => {
    for (const contender of contenders) {
      await contender.command(contender.freshChat(), "/document", ["sendDocument"]);
      const times: number[] = [];
      const growths: number[] = [];
      const costs: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await delay(SETTLE_MS);
        const { pid } = contender.bot;
        const before = memoryMib(pid);
        const cpuBefore = cpuMs(pid);
        let peak = before;
        const watch = setInterval(() => (peak = Math.max(peak, memoryMib(pid))), WATCH_MS);
        const { afterMs } = await contender.command(contender.freshChat(), "/document", ["sendDocument"]);
        clearInterval(watch);
        times.push(afterMs);
        growths.push(peak - before);
        costs.push(cpuMs(pid) - cpuBefore);
      }
      const label = `a document of ${DOCUMENT_MIB} MiB`;
      report.add("documents", `${label}, sent after`, "ms", contender.name, median(times));
      report.add("documents", `${label}, growth of memory`, "MiB", contender.name, Math.max(...growths));
      report.add("documents", `${label}, CPU`, "ms", contender.name, median(costs));
    }
  });
};
