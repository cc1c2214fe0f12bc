/**
 * Costs of code that a model writes, in the served bot with a scripted model:
 *
 *     node lab/bench/code-cost.ts                all of it, about a minute
 *     node lab/bench/code-cost.ts --runs 10000   memory after more runs
 *
 * - A turn whose code makes three calls of an action, beside a turn that makes the same three calls as plain tools in one
 *   step, by turns.
 * - The replay of 1,000 calls from the log after a person has agreed to the next one.
 * - The memory of the process after runs of the sandbox.
 */
import path from "node:path";
import { readOptions } from "../../scripts/command-line/read-options.ts";
import { callTool, failWith, say } from "../support/model-script.ts";
import type { ModelStep } from "../support/model-script.ts";
import { lastUserText, startScriptedModel, textOf } from "../support/scripted-model.ts";
import { startServedBot } from "../support/served-bot.ts";
import { memoryMib } from "./process-tree.ts";
import { median, quantile } from "./statistics.ts";

const values = readOptions("node lab/bench/code-cost.ts", {
  turns: { type: "string", default: "40", about: "how many turns of each kind" },
  runs: { type: "string", default: "1000", about: "how many runs of the sandbox" },
});
const CALLS = 1_000;
const WARM_UP = 200;

const THREE = `async () => { for (const id of ["a", "b", "c"]) await actions.note({ id }); return "done"; }`;
const MANY = `async () => { for (let at = 0; at < ${CALLS}; at += 1) await actions.note({ id: String(at) }); return actions.pay({ id: "p" }); }`;

const model = await startScriptedModel();
model.script((request): readonly ModelStep[] => {
  const last = request.messages.at(-1);
  if (last?.role !== "user") return textOf(last).includes('"error"') ? [failWith(400)] : [say("Done.")];
  const said = lastUserText(request);
  if (said.startsWith("plain")) return ["a", "b", "c"].map((id) => callTool("note", { id }));
  if (said.startsWith("three")) return [callTool("codemode", { code: THREE })];
  if (said.startsWith("many")) return [callTool("codemode", { code: MANY })];
  return [say("Heard.")];
});
const bot = await startServedBot({
  config: path.join(import.meta.dirname, "switchboard/code.jsonc"),
  env: {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "scripted",
    MODEL: "scripted",
    LOG_LEVEL: "silent",
  },
});

/** Returns the milliseconds until the bot has answered. */
async function time(address: string, body = ""): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${bot.url}${address}`, { method: "POST", body });
  const answer = await response.text();
  if (!response.ok || answer.includes('"error"')) throw new Error(`${address}: ${response.status} ${answer}`);
  return performance.now() - startedAt;
}

function show(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(56)} ${value}\n`);
}

try {
  for (const kind of ["plain", "three"]) await time("/turn", `${kind} warm-up`);
  const plain: number[] = [];
  const code: number[] = [];
  for (let turn = 0; turn < Number(values.turns); turn += 1) {
    plain.push(await time("/turn", `plain ${turn}`));
    code.push(await time("/turn", `three ${turn}`));
  }
  const shown = (times: readonly number[]): string =>
    `${median(times).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} ms`;
  show("turn with three plain calls, p50 / p95", shown(plain));
  show("turn with three calls in code, p50 / p95", shown(code));
  show("ratio of the medians", (median(code) / median(plain)).toFixed(2));

  show(`first pass of ${CALLS} calls`, `${(await time("/turn", "many")).toFixed(0)} ms`);
  show(
    `replay of ${CALLS} logged calls, and the call behind them`,
    `${(await time("/approve")).toFixed(0)} ms`,
  );

  await time(`/runs?n=${WARM_UP}`);
  const before = memoryMib(bot.pid);
  const took = await time(`/runs?n=${values.runs}`);
  show(
    `memory after ${WARM_UP} runs, and after ${values.runs} more`,
    `${before.toFixed(0)}, ${memoryMib(bot.pid).toFixed(0)} MiB`,
  );
  show("one run of the sandbox", `${(took / Number(values.runs)).toFixed(1)} ms`);
} finally {
  await bot.close();
  await model.close();
}
