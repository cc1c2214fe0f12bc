import { withContenders, type Contender } from "../contender.ts";
import { median, quantile } from "../statistics.ts";
import type { Part, PartContext } from "./context.ts";

const GROUPS = 20;
const REQUESTS = 200;
const CLIENTS = 8;
const WINDOW_MS = 3_000;

/**
 * The webhook alone: messages of known groups that start no turn. One client after the other, then eight at once for
 * three seconds. Contenders take turns.
 */
export const webhookPart: Part = async ({ report, bots, bare, rounds }) => {
  await withContenders([...bots, ...bare], (contenders) =>
    measureWebhooks({ report, rounds, part: "webhook" }, contenders),
  );
};

/** Measures webhooks that start no turn. */
export async function measureWebhooks(
  {
    part,
    report,
    rounds,
  }: { readonly part: string; readonly report: PartContext["report"]; readonly rounds: number },
  contenders: readonly Contender[],
): Promise<void> {
  for (const contender of contenders) await warmUp(contender);
  const single = new Map<Contender, number[]>();
  const rates = new Map<Contender, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders) {
      const times = single.get(contender) ?? [];
      single.set(contender, times);
      for (let index = 0; index < REQUESTS; index += 1) {
        times.push(await contender.client.post(contender.chatter(index % GROUPS)));
      }
    }
    for (const contender of contenders) {
      rates.set(contender, [...(rates.get(contender) ?? []), await ratePerSecond(contender)]);
    }
  }
  for (const contender of contenders) {
    const times = single.get(contender) ?? [];
    report.add(part, "webhook to 200, 1 client, p50", "ms", contender.name, quantile(times, 0.5));
    report.add(part, "webhook to 200, 1 client, p95", "ms", contender.name, quantile(times, 0.95));
    report.add(part, "webhook to 200, 1 client, p99", "ms", contender.name, quantile(times, 0.99));
    report.add(part, "webhooks, 8 clients", "1/s", contender.name, median(rates.get(contender) ?? []));
  }
}

async function warmUp(contender: Contender): Promise<void> {
  for (let index = 0; index < GROUPS * 5; index += 1) {
    await contender.client.post(contender.chatter(index % GROUPS));
  }
}

export async function ratePerSecond(contender: Contender, groups = GROUPS): Promise<number> {
  return postFor(contender, (turn) => contender.chatter(turn % groups));
}

/** Webhooks a second, with eight clients for three seconds. */
export async function postFor(contender: Contender, update: (turn: number) => object): Promise<number> {
  const endAt = performance.now() + WINDOW_MS;
  let count = 0;
  const client = async (first: number): Promise<void> => {
    for (let turn = first; performance.now() < endAt; turn += CLIENTS) {
      await contender.client.post(update(turn));
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  return (count * 1000) / WINDOW_MS;
}
