import { setTimeout as delay } from "node:timers/promises";
import { callTool, say } from "../../support/model-script.ts";
import { lastUserText, type ModelScript } from "../../support/scripted-model.ts";
import { BENCH_ADMIN_TOKEN, END_MARK, withContenders, type Contender } from "../contender.ts";
import { startEffectServer, type EffectServer } from "../effect-server.ts";
import { fillApprovals } from "../pending-approvals.ts";
import { cpuMs, memoryMib } from "../process-tree.ts";
import { median, quantile } from "../statistics.ts";
import type { Part } from "./context.ts";

const PRESSES_A_ROUND = 30;
const TURNS_A_ROUND = 10;
const ACTIONS = 5;
const PENDING = 10_000;
const PAGE = 100;
const LARGEST_PAGE = 1_000;
const SETTLE_MS = 4_000;

/** Calls `<action> <count> <id> <url>` of a person's message, all in one step, and then ends the turn. */
const consentScript: ModelScript = (request) => {
  const [, name = "", count = "0", id = "", url = ""] =
    /run (\w+) (\d+) (\S+) (\S+)/.exec(lastUserText(request)) ?? [];
  const isFirst = request.messages.at(-1)?.role === "user" && name !== "";
  if (!isFirst) return [say(END_MARK)];
  return Array.from({ length: Number(count) }, (_, index) =>
    callTool(name, { id: `${id}.${index}`, url: `${url}.${index}` }, { id: `${id}-${index}` }),
  );
};

export async function withActions(
  body: (contender: Contender, effects: EffectServer) => Promise<void>,
): Promise<void> {
  const effects = await startEffectServer();
  try {
    await withContenders(["consent"], async (contenders) => {
      for (const contender of contenders) {
        contender.model.script(consentScript);
        await body(contender, effects);
      }
    });
  } finally {
    await effects.close();
  }
}

/** From the press of Approve to the begin of the action's effect. Each press is of a card in a chat of its own. */
export const approvalsPart: Part = async ({ report, rounds }) => {
  await withActions(async (contender, effects) => {
    const times: number[] = [];
    for (let press = 0; press < rounds * PRESSES_A_ROUND; press += 1) {
      const id = `press${press}`;
      const chat = contender.freshChat();
      const card = await contender.command(chat, `run pay 1 ${id} ${effects.urlOf(id)}`, ["sendMessage"]);
      const startedAt = Date.now();
      void contender.press(chat, card.messageId, ["answerCallbackQuery"]);
      times.push((await effects.arrival(`${id}.0`)) - startedAt);
      // Its card and outcome must not slow down the next one.
      await delay(500);
    }
    report.add("approvals", "press to the action's effect, p50", "ms", contender.name, quantile(times, 0.5));
    report.add("approvals", "press to the action's effect, p95", "ms", contender.name, quantile(times, 0.95));
  });
};

/** A turn with five actions in one step, beside a turn without one. */
export const actionsPart: Part = async ({ report, rounds }) => {
  await withActions(async (contender, effects) => {
    for (const count of [0, 1, ACTIONS]) {
      const finals: number[] = [];
      const lasts: number[] = [];
      const before = cpuMs(contender.bot.pid);
      for (let turn = 0; turn < rounds * TURNS_A_ROUND; turn += 1) {
        const id = `turn${count}-${turn}`;
        const chat = contender.freshChat();
        const startedAt = Date.now();
        const asked = `run note ${count} ${id} ${effects.urlOf(id)}`;
        const { calls } = await contender.ask(chat, count === 0 ? "Hello" : asked);
        finals.push((calls.at(-1)?.at ?? Number.NaN) - startedAt);
        if (count > 0) lasts.push((await effects.arrival(`${id}.${count - 1}`)) - startedAt);
      }
      const label = `a turn with ${count} actions`;
      const cpu = (cpuMs(contender.bot.pid) - before) / (rounds * TURNS_A_ROUND);
      if (count > 0) report.add("actions", `${label}: last effect, p50`, "ms", contender.name, median(lasts));
      report.add("actions", `${label}: answer, p50`, "ms", contender.name, median(finals));
      report.add("actions", `${label}: answer, p95`, "ms", contender.name, quantile(finals, 0.95));
      report.add("actions", `${label}: CPU`, "ms", contender.name, cpu);
    }
  });
};

/** Ten thousand approvals that wait: pages of the list over HTTP, `/approvals` of one person, and memory. */
export const pendingPart: Part = async ({ report, rounds }) => {
  await withActions(async (contender, effects) => {
    const chat = contender.freshChat();
    await contender.command(chat, `run pay 1 own ${effects.urlOf("own")}`, ["sendMessage"]);
    await delay(SETTLE_MS);
    for (const count of [0, PENDING]) {
      if (count > 0) await contender.whileStopped((data) => fillApprovals(data, count));
      await page(contender, 1);
      await delay(SETTLE_MS);
      const add = (what: string, unit: string, value: number): void =>
        report.add("pending", `${count + 1} waiting: ${what}`, unit, contender.name, value);
      const before = memoryMib(contender.bot.pid);
      const pages: number[] = [];
      const largest: number[] = [];
      const lists: number[] = [];
      for (let time = 0; time < rounds * 10; time += 1) {
        pages.push((await page(contender, PAGE)).tookMs);
        largest.push((await page(contender, LARGEST_PAGE)).tookMs);
        lists.push((await contender.command(chat, "/approvals", ["sendMessage"])).afterMs);
        await delay(1_000);
      }
      add(`page of ${PAGE}, p50`, "ms", median(pages));
      add(`page of ${LARGEST_PAGE}, p50`, "ms", median(largest));
      add("all pages", "ms", await allPages(contender));
      add("/approvals of one person, p50", "ms", median(lists));
      add("memory", "MiB", memoryMib(contender.bot.pid));
      add("growth of memory", "MiB", memoryMib(contender.bot.pid) - before);
    }
  });
};

interface Page {
  readonly tookMs: number;
  readonly cursor?: string;
}

async function page({ bot }: Contender, limit: number, cursor?: string): Promise<Page> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
  const startedAt = performance.now();
  const response = await fetch(`${bot.url}/admin/approvals?${query.toString()}`, {
    headers: { authorization: `Bearer ${BENCH_ADMIN_TOKEN}` },
  });
  const { cursor: next } = (await response.json()) as { readonly cursor?: string };
  if (!response.ok) throw new Error(`The list was refused with ${response.status}.`);
  return { tookMs: performance.now() - startedAt, ...(next !== undefined && { cursor: next }) };
}

async function allPages(contender: Contender): Promise<number> {
  const startedAt = performance.now();
  let next = (await page(contender, LARGEST_PAGE)).cursor;
  while (next !== undefined) next = (await page(contender, LARGEST_PAGE, next)).cursor;
  return performance.now() - startedAt;
}
