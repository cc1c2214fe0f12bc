import { setTimeout as delay } from "node:timers/promises";
import type { ApiCall } from "../../../playground/telegram/simulator.ts";
import { withContenders, type BenchChat, type Contender } from "../contender.ts";
import { cpuMs, memoryMib } from "../process-tree.ts";
import type { RowsWritten } from "../rows-written.ts";
import { quantile } from "../statistics.ts";
import type { Part } from "./context.ts";

/** A slow machine manages fewer in a minute. */
const CHATS = Number(process.env["SCHEDULE_CHATS"] ?? 1_000);
const MINUTE_MS = 60_000;
const COUNTED = 40;
const AT_ONCE = 8;
const TRIED = 40;
const SETTLE_MS = 6_000;
const MOST_WAIT_MS = 5 * MINUTE_MS;
/** A post is out of order if one that was due before comes so much later. */
const ORDER_MS = 1_000;

type Kind = "handler" | "prompt";

/** One task of each of many conversations, all due within a minute; and what an occurrence costs, in rows and CPU time. */
export const schedulesPart: Part = async ({ report }) => {
  await withContenders(["schedules"], async ([contender]) => {
    if (contender !== undefined) await minute(contender, report);
  });
  await withContenders(
    ["schedules"],
    async ([contender]) => {
      if (contender === undefined) return;
      for (const kind of ["handler", "prompt"] as const) {
        const { alarms, rows } = await costOf(contender, kind);
        report.add("schedules", `rows written an occurrence, ${kind}`, "", contender.name, rows / COUNTED);
        report.add("schedules", `alarms set an occurrence, ${kind}`, "", contender.name, alarms / COUNTED);
      }
    },
    { countsRows: true },
  );
};

async function minute(contender: Contender, report: Parameters<Part>[0]["report"]): Promise<void> {
  const add = (metric: string, unit: string, value: number): void =>
    report.add("schedules", metric, unit, contender.name, value);
  const { pid } = contender.bot;
  // All conversations exist before the first one is due, and how long that takes depends on the machine.
  const triedAt = Date.now();
  const far = Date.now() + 24 * 60 * MINUTE_MS;
  await planned(
    contender,
    Array.from({ length: TRIED }, () => far),
    "handler",
  );
  const eachMs = (Date.now() - triedAt) / TRIED;
  const from = Date.now() + eachMs * CHATS * 1.5 + MINUTE_MS / 4;
  const due = Array.from({ length: CHATS }, (_, index) => Math.round(from + (index * MINUTE_MS) / CHATS));
  const fresh = await planned(contender, due, "handler");
  const leadMs = from - Date.now();
  if (leadMs < 0) throw new Error("The machine was too slow to plan everything in time.");
  await delay(Math.max(0, leadMs - 2_000));
  const [memoryBefore, cpuBefore] = [memoryMib(pid), cpuMs(pid)];
  let peak = memoryBefore;
  const watch = setInterval(() => (peak = Math.max(peak, memoryMib(pid))), 1_000);
  const posts = await postsOf(contender, CHATS, from);
  clearInterval(watch);
  const cpu = cpuMs(pid) - cpuBefore;
  const lateMs = fresh.flatMap(({ chat }, index) => {
    const [first] = posts.get(chat.id) ?? [];
    return first === undefined ? [] : [first.at - (due[index] ?? 0)];
  });
  const counts = [...posts.values()].map(({ length }) => length);
  add("due in one minute", "", CHATS);
  add("  delivered", "", lateMs.length);
  add("  delivered twice", "", counts.filter((count) => count > 1).length);
  add("  out of order by more than 1 s", "", outOfOrder(fresh, due, posts));
  add("due to the post, p50", "ms", quantile(lateMs, 0.5));
  add("due to the post, p95", "ms", quantile(lateMs, 0.95));
  add("due to the post, max", "ms", Math.max(...lateMs));
  add("CPU an occurrence, handler", "ms", cpu / CHATS);
  add("memory before", "MiB", memoryBefore);
  add("memory, most", "MiB", peak);
}

async function costOf(contender: Contender, kind: Kind): Promise<RowsWritten> {
  const from = Date.now() + 30_000;
  await planned(
    contender,
    Array.from({ length: COUNTED }, (_, index) => from + index * 100),
    kind,
  );
  await takeRows(contender);
  await postsOf(contender, COUNTED, from);
  await delay(SETTLE_MS);
  return takeRows(contender);
}

/** Tells new chats when their tasks are due. */
async function planned(
  contender: Contender,
  due: readonly number[],
  kind: Kind,
): Promise<readonly BenchChat[]> {
  const chats: BenchChat[] = due.map(() => contender.freshChat());
  let next = 0;
  const plan = async (): Promise<void> => {
    for (let index = next++; index < due.length; index = next++) {
      const chat = chats[index];
      if (chat === undefined) return;
      const at = new Date(due[index] ?? 0).toISOString();
      await contender.command(chat, `/due ${kind} ${at}`, ["sendMessage"]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, plan));
  return chats;
}

/** Waits until so many chats have a post since a time, and returns all posts since then by chat. */
async function postsOf(
  { simulator }: Contender,
  chats: number,
  since: number,
): Promise<ReadonlyMap<number, readonly ApiCall[]>> {
  for (;;) {
    const posts = new Map<number, ApiCall[]>();
    for (const call of simulator.calls({ method: "sendMessage" })) {
      if (call.at < since || call.outcome !== "ok" || call.chatId === undefined) continue;
      posts.set(call.chatId, [...(posts.get(call.chatId) ?? []), call]);
    }
    if (posts.size >= chats || Date.now() > since + MOST_WAIT_MS) return posts;
    await delay(1_000);
  }
}

function outOfOrder(
  chats: readonly BenchChat[],
  due: readonly number[],
  posts: ReadonlyMap<number, readonly ApiCall[]>,
): number {
  const sent = chats
    .map(({ chat }, index) => ({ due: due[index] ?? 0, at: posts.get(chat.id)?.[0]?.at ?? Infinity }))
    .toSorted((a, b) => a.due - b.due);
  let latest = -Infinity;
  let count = 0;
  for (const { at } of sent) {
    if (at < latest - ORDER_MS) count += 1;
    latest = Math.max(latest, at);
  }
  return count;
}

async function takeRows({ bot }: Contender): Promise<RowsWritten> {
  const response = await fetch(`${bot.url}/bench/rows`);
  return (await response.json()) as RowsWritten;
}
