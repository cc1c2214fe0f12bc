import { setTimeout as delay } from "node:timers/promises";
import {
  startContender,
  withContenders,
  type Answer,
  type Contender,
  type ContenderName,
} from "../contender.ts";
import { cpuMs, memoryMib } from "../process-tree.ts";
import { ask } from "../reply-script.ts";
import { mean, median, quantile } from "../statistics.ts";
import type { Part } from "./context.ts";

const TOKENS = 120;
const PACE_MS = 25;
const SETTLE_MS = 4_000;
/** First and final text must both arrive within this time for 95 of 100 people, in milliseconds. */
const PATIENCE_MS = 5_000;

export interface Load {
  readonly answers: readonly Answer[];
  readonly cpuMsAReply: number;
  readonly peakMib: number;
}

/** Adds the time after which 95 of 100 people have the first and the final text. */
export function addSlowest(
  add: (metric: string, unit: string, value: number) => void,
  answers: readonly Answer[],
): void {
  const slowest = (timeOf: (answer: Answer) => number): number => quantile(answers.map(timeOf), 0.95);
  add(
    "first text, p95",
    "ms",
    slowest(({ firstTextMs }) => firstTextMs),
  );
  add(
    "final text, p95",
    "ms",
    slowest(({ finalTextMs }) => finalTextMs),
  );
}

/** `count` chats write at the same moment, and get replies of 120 tokens at 40 a second. */
export async function streamAtOnce(contender: Contender, count: number, timeoutMs = 90_000): Promise<Load> {
  const chats = Array.from({ length: count }, () => contender.freshChat());
  let peakMib = memoryMib(contender.bot.pid);
  const watch = setInterval(() => (peakMib = Math.max(peakMib, memoryMib(contender.bot.pid))), 500);
  const cpuBefore = cpuMs(contender.bot.pid);
  try {
    const answers = await Promise.all(
      chats.map((chat) => contender.ask(chat, ask(TOKENS, PACE_MS), timeoutMs)),
    );
    // Work after a reply is part of its cost.
    await delay(1_000);
    return { answers, cpuMsAReply: (cpuMs(contender.bot.pid) - cpuBefore) / count, peakMib };
  } finally {
    clearInterval(watch);
  }
}

/** CPU and memory with 1, 20 and 100 chats that stream at once. */
export const chatsPart: Part = async ({ report, bots, rounds }) => {
  await withContenders(bots, async (contenders) => {
    for (const contender of contenders) await streamAtOnce(contender, 3);
    for (const contender of contenders) {
      report.add("chats", "memory of an idle bot", "MiB", contender.name, memoryMib(contender.bot.pid));
    }
    for (const count of [1, 20, 100]) {
      const loads = new Map<Contender, Load[]>(contenders.map((contender) => [contender, []]));
      const repetitions = count === 1 ? rounds : Math.max(1, Math.ceil(rounds / (count > 50 ? 3 : 2)));
      for (let round = 0; round < repetitions; round += 1) {
        for (const contender of contenders) {
          loads.get(contender)?.push(await streamAtOnce(contender, count));
          await delay(SETTLE_MS);
        }
      }
      for (const contender of contenders) {
        const measured = loads.get(contender) ?? [];
        const answers = measured.flatMap((load) => load.answers);
        const label = `${count} at once`;
        const add = (metric: string, unit: string, value: number): void =>
          report.add("chats", `${metric}, ${label}`, unit, contender.name, value);
        add("CPU a reply", "ms", median(measured.map((load) => load.cpuMsAReply)));
        add("memory, peak", "MiB", median(measured.map((load) => load.peakMib)));
        add("calls a reply", "", mean(answers.map(({ calls }) => calls.length)));
        add("first text, p95", "ms", worst(answers.map((answer) => answer.firstTextMs)));
        add("final text, p95", "ms", worst(answers.map((answer) => answer.finalTextMs)));
        add("replies not whole after 90 s", "", answers.filter((answer) => !answer.isComplete).length);
      }
    }
  });
};

/** First number of chats. It is doubled until it is too many; then the range is halved down to the resolution. */
const FIRST_COUNT = 20;
const LARGEST_STEP = 40;
const RESOLUTION = 10;
/** A chat without a complete reply after this time is too late in any case. */
const MOST_TIMEOUT_MS = 45_000;

/**
 * Finds the highest number of chats at once that get first and final text in time. Each contender has a bot of its own.
 */
export const mostPart: Part = async ({ report, bots }) => {
  for (const name of bots)
    report.add("most", "chats at once, p95 of first and final under 5 s", "", name, await most(name));
};

async function most(name: ContenderName): Promise<number> {
  const contender = await startContender(name);
  try {
    await streamAtOnce(contender, 3);
    let best = 0;
    let tooMany = Infinity;
    for (;;) {
      const next = best === 0 ? FIRST_COUNT : best + Math.min(best, LARGEST_STEP);
      const count = next < tooMany ? next : Math.ceil((best + tooMany) / 2 / RESOLUTION) * RESOLUTION;
      if (count >= tooMany) return best;
      await delay(SETTLE_MS);
      // A single slow moment of a shared machine is not the limit.
      const isFast = (await isInTime(contender, count)) || (await isInTime(contender, count));
      if (isFast) best = count;
      else tooMany = count;
    }
  } finally {
    await contender.close();
  }
}

async function isInTime(contender: Contender, count: number): Promise<boolean> {
  const { answers } = await streamAtOnce(contender, count, MOST_TIMEOUT_MS);
  const first = worst(answers.map(({ firstTextMs }) => firstTextMs));
  const final = worst(answers.map(({ finalTextMs }) => finalTextMs));
  return first < PATIENCE_MS && final < PATIENCE_MS;
}

/** p95; a missing value counts as the worst. */
function worst(values: readonly number[]): number {
  return quantile(
    values.map((value) => (Number.isNaN(value) ? Infinity : value)),
    0.95,
  );
}
