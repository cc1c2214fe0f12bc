import { setTimeout as delay } from "node:timers/promises";
import { withContenders, type Contender } from "../contender.ts";
import { addAnswers, answersOf } from "./latency.ts";
import type { Part } from "./context.ts";
import { measureLoads } from "./routes.ts";
import { measureWebhooks } from "./webhook.ts";

/** Time after which a chat's budget is full again. */
const REST_MS = 3_500;
const REPLIES_A_ROUND = 4;

/**
 * The same plain bot on these sources (or those of `--now`) and on those of `--against`, by turns: private chats, groups,
 * topics of forums, and conversations that follow a person. One pair of bots runs at a time.
 */
export const againstPart: Part = async ({ report, rounds, sources }) => {
  if (sources.before === undefined) return;
  for (const kind of ["private", "group", "forum", "by-person"] as const) {
    await withContenders(
      [`now:${kind}`, `before:${kind}`],
      async (contenders) => {
        const answers = new Map(contenders.map((one) => [one, [] as Awaited<ReturnType<typeof answersOf>>]));
        for (let round = 0; round < rounds; round += 1) {
          for (const contender of inTurn(contenders, round)) {
            const chats = Array.from({ length: REPLIES_A_ROUND }, () => contender.freshChat());
            await answersOf(contender, chats);
            await delay(REST_MS);
            answers.get(contender)?.push(...(await answersOf(contender, chats)));
          }
        }
        for (const [contender, measured] of answers)
          addAnswers(report, "against", `known chat, ${kind}`, contender, measured);
        await measureLoads({ report, rounds, part: "against" }, contenders, inTurn);
        if (kind === "private") await measureWebhooks({ report, rounds, part: "against" }, contenders);
      },
      { sources },
    );
  }
};

/** Each round begins with another contender, so that a drift of the machine's speed counts for both. */
function inTurn(contenders: readonly Contender[], round: number): readonly Contender[] {
  const first = round % contenders.length;
  return [...contenders.slice(first), ...contenders.slice(0, first)];
}
