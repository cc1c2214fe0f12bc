import { setTimeout as delay } from "node:timers/promises";
import type { BenchChat, Contender } from "../contender.ts";
import { withContenders } from "../contender.ts";
import { ask } from "../reply-script.ts";
import { quantile } from "../statistics.ts";
import { fillTranscripts } from "../transcript.ts";
import type { Part } from "./context.ts";
import { postFor } from "./webhook.ts";

const CHATS = 6;
const TOKENS = 10;
const PACE_MS = 25;
const SETTLE_MS = 3_500;
const EDITS = 200;

/**
 * Times of the webhook and the first text in long conversations. The messages are written into the storage of a stopped
 * bot, because sending them would take hours of a chat's budget.
 */
export const transcriptsPart: Part = async ({ bots, report, transcripts }) => {
  await withContenders(bots, async (contenders) => {
    const chats = new Map<Contender, ReadonlyMap<number, readonly BenchChat[]>>();
    for (const contender of contenders) {
      const own = new Map(transcripts.map((count) => [count, chatsOf(contender)]));
      chats.set(contender, own);
      await fill(contender, own);
      await contender.ask(contender.freshChat(), ask(5, 0));
    }
    for (const count of transcripts) {
      for (const contender of contenders) {
        await measure(contender, chats.get(contender)?.get(count) ?? [], (metric, unit, value) =>
          report.add("transcripts", `${count} messages: ${metric}`, unit, contender.name, value),
        );
      }
    }
  });
};

async function measure(
  contender: Contender,
  chats: readonly BenchChat[],
  add: (metric: string, unit: string, value: number) => void,
): Promise<void> {
  // The first replies read the transcript from the disk.
  const first = await answersOf(contender, chats);
  add("first text, first answer after a start, p50", "ms", first.firstText(0.5));
  await delay(SETTLE_MS);
  const next = await answersOf(contender, chats);
  add("first text, p50", "ms", next.firstText(0.5));
  add("first text, p95", "ms", next.firstText(0.95));
  add("message that starts a turn to 200, p50", "ms", next.webhook(0.5));
  await delay(SETTLE_MS);
  const edit = (turn: number): object => contender.edit(chats[turn % CHATS] ?? contender.freshChat());
  const times: number[] = [];
  for (let turn = 0; turn < EDITS; turn += 1) times.push(await contender.client.post(edit(turn)));
  add("webhook to 200 (an edit that nothing follows from), 1 client, p50", "ms", quantile(times, 0.5));
  add("webhook to 200 (an edit that nothing follows from), 1 client, p95", "ms", quantile(times, 0.95));
  add("webhooks, 8 clients", "1/s", await postFor(contender, edit));
}

function chatsOf(contender: Contender): BenchChat[] {
  return Array.from({ length: CHATS }, () => contender.freshChat());
}

async function fill(contender: Contender, chats: ReadonlyMap<number, readonly BenchChat[]>): Promise<void> {
  const counts = new Map<string, number>();
  for (const [count, own] of chats) {
    for (const chat of own) {
      const { key } = await contender.ask(chat, ask(5, 0));
      counts.set(`#${key}`, count);
    }
  }
  await delay(SETTLE_MS);
  await contender.whileStopped((dataDirectory) => {
    const filled = fillTranscripts(dataDirectory, counts);
    if (filled !== counts.size) {
      throw new Error(
        `${contender.name}: ${filled} of ${counts.size} conversations were found in its storage.`,
      );
    }
  });
}

async function answersOf(
  contender: Contender,
  chats: readonly BenchChat[],
): Promise<{ firstText(share: number): number; webhook(share: number): number }> {
  const firstTexts: number[] = [];
  const webhooks: number[] = [];
  for (const chat of chats) {
    const answer = await contender.ask(chat, ask(TOKENS, PACE_MS));
    firstTexts.push(answer.firstTextMs);
    webhooks.push(answer.webhookMs);
  }
  return {
    firstText: (share) => quantile(firstTexts, share),
    webhook: (share) => quantile(webhooks, share),
  };
}
