import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { mean } from "../statistics.ts";
import { addSlowest, streamAtOnce, type Load } from "./chats.ts";
import type { Part, PartContext } from "./context.ts";

const SETTLE_MS = 2_000;
/** How many chats get a reply at once, and how often in a round. One reply is too short for the clock of the CPU. */
const LOADS = [
  { count: 1, repetitions: 5 },
  { count: 10, repetitions: 1 },
];

/**
 * The cost of a gate in another object than its conversation. Compares a private chat and a group, where they are one
 * object, with topics of forums and conversations that follow a person. Each person has a chat of their own.
 */
export const routesPart: Part = async ({ report, bots, rounds }) => {
  if (!bots.includes("switchboard")) return;
  await withContenders(["switchboard", "by-person", "group", "forum"], async (contenders) => {
    for (const contender of contenders) await streamAtOnce(contender, 3);
    await measureLoads({ report, rounds, part: "routes" }, contenders);
  });
};

/** Measures replies in new chats, one and ten at once. `order` is the order of the contenders in a round. */
export async function measureLoads(
  {
    part,
    report,
    rounds,
  }: { readonly part: string; readonly report: PartContext["report"]; readonly rounds: number },
  contenders: readonly Contender[],
  order: (contenders: readonly Contender[], round: number) => readonly Contender[] = (all) => all,
): Promise<void> {
  for (const { count, repetitions } of LOADS) {
    const loads = new Map<Contender, Load[]>(contenders.map((contender) => [contender, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const contender of order(contenders, round)) {
        for (let at = 0; at < repetitions; at += 1) {
          loads.get(contender)?.push(await streamAtOnce(contender, count));
          await delay(SETTLE_MS);
        }
      }
    }
    for (const [contender, measured] of loads) {
      const answers = measured.flatMap((load) => load.answers);
      const add = (metric: string, unit: string, value: number): void =>
        report.add(part, `${metric}, ${count} at once`, unit, contender.name, value);
      add("CPU a reply", "ms", mean(measured.map((load) => load.cpuMsAReply)));
      add("calls a reply", "", mean(answers.map(({ calls }) => calls.length)));
      addSlowest(add, answers);
      add("replies not whole after 90 s", "", answers.filter((answer) => !answer.isComplete).length);
    }
  }
}
