import { jsonSchema } from "ai";
import type { ToolSet } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import { ActionError } from "../../../src/actions/declare/action-errors.ts";
import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { FEATURES } from "../../../src/agent/features.ts";
import type { AnyFeature } from "../../../src/agent/features.ts";
import {
  ActionConnector,
  codemode,
  createCodemodeRuntime,
  createQuickJSExecutor,
} from "../../../src/codemode/index.ts";
import type { CodemodeRuntime, Executor } from "../../../src/codemode/index.ts";
import type { SandboxLimits } from "../../../src/sandbox/index.ts";
import { wait } from "../../../src/core/base/deps.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import { undo } from "../../../src/undo/index.ts";
import type { Life } from "../machine/life.ts";
import type { CodeWatch, PlannedCode } from "../oracle/code-watch.ts";
import type { PlanItem } from "../plan/plan.ts";
import { createPlainExecutor } from "./plain-executor.ts";

/** Input of every action that code calls. */
interface Work {
  /** Name of the effect, unique in the run. */
  readonly effect: string;
}

interface WorkCall {
  readonly input: Work;
}

const WORK = jsonSchema<Work>({
  type: "object",
  properties: { effect: { type: "string" } },
  required: ["effect"],
});

export function plannedCode(items: readonly PlanItem[]): PlannedCode[] {
  return items.filter((item): item is PlannedCode => item.kind === "code");
}

/** The features of a bot whose model writes code. Other bots have none of them. */
export function codeFeatures(items: readonly PlanItem[]): readonly AnyFeature[] {
  const [first] = plannedCode(items);
  if (first === undefined) return FEATURES;
  return [...FEATURES, codemode().kind, undo({ undoForMs: first.undoForMs }).kind];
}

/** The actions of each planned code: one that runs at once, and one about which people are asked. */
export function codeActions(codes: readonly PlannedCode[], watch: CodeWatch, life: Life): ThinkActions {
  return Object.fromEntries(
    codes.flatMap((code) => [
      [actionOf(code, false), workAction(code, false, watch, life)],
      [actionOf(code, true), workAction(code, true, watch, life)],
    ]),
  );
}

function actionOf({ token }: PlannedCode, asks: boolean): string {
  return `${asks ? "ask" : "do"}_${token}`;
}

function workAction(
  { approvers, expiresAfterMs, repeats, workMs }: PlannedCode,
  asks: boolean,
  watch: CodeWatch,
  life: Life,
): ThinkActions[string] {
  return defineAction<typeof WORK, unknown, ActionContext>({
    description: "Works.",
    inputSchema: WORK,
    approvalSummary: ({ input }: WorkCall) => `Let ${input.effect} happen`,
    async execute({ effect }: Work, ctx: ActionContext) {
      life.write("code effect", () => watch.runs(effect, ctx, life));
      if (workMs > 0) await wait(life.clock, workMs, ctx.signal);
      return { done: effect };
    },
    async revert({ input: { effect } }: WorkCall) {
      if (!watch.canUndo(effect)) throw new ActionError("It is used already.");
      life.write("code revert", () => watch.reverts(effect, life));
      if (workMs > 0) await wait(life.clock, Math.min(workMs, 200));
      return "undone";
    },
    ...(asks && {
      approval: true,
      approvers: approvers === "ada" ? ["7"] : "anyone",
      askIn: "here" as const,
      expiresAfterMs,
    }),
    ...(repeats !== "never" && { idempotencyKey: ({ input }: WorkCall) => input.effect }),
    ...(repeats === "verified" && {
      verify: ({ input: { effect } }: WorkCall) =>
        watch.hasRun(effect) ? { done: true, output: { done: effect } } : { done: false },
    }),
  } as never);
}

/** The code that the model writes for a message. */
export function codeText(code: PlannedCode, turn: number): string {
  const { catches, order, steps } = code;
  const call = catches
    ? "async (method, effect) => { try { return (await actions[method]({ effect })).done; } catch { return 'failed'; } }"
    : "async (method, effect) => (await actions[method]({ effect })).done";
  const calls = steps.map(
    ({ asks }, index) => `call(${JSON.stringify(actionOf(code, asks))}, "work${turn}x${index}")`,
  );
  const done =
    order === "together"
      ? `await Promise.all([${calls.join(", ")}])`
      : `[${calls.map((one) => `await ${one}`).join(", ")}]`;
  return `async () => { const call = ${call}; return { ended: ${done} }; }`;
}

/** The runtime of one object's process, as the bot's own code makes it. */
export class CodeBot {
  readonly ctx = {};
  readonly #executor: Executor;

  constructor(codes: readonly PlannedCode[], clock: Clock) {
    const isReal = codes.some(({ sandbox }) => sandbox === "quickjs");
    this.#executor = isReal ? realExecutor(clock) : createPlainExecutor();
  }

  runtime(): CodemodeRuntime {
    const connectors = [new ActionConnector(this.ctx, {})];
    return createCodemodeRuntime({ ctx: this.ctx, connectors, executor: this.#executor });
  }

  tools(): ToolSet {
    return { codemode: this.runtime().tool() };
  }
}

/** The runs of one thread of the machine share the places of the sandbox, and each begins at the same time. */
let startedRuns = 0;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The product's own sandbox, in a process of the simulation. */
export function realExecutor(clock: Clock, limits: SandboxLimits = {}): Executor {
  startedRuns += 1;
  const offset = startedRuns * DAY_MS;
  const later: Clock = {
    now: () => clock.now() + offset,
    setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs),
    clearTimeout: (timer) => clock.clearTimeout(timer),
  };
  let ids = 0;
  return createQuickJSExecutor({ limits, deps: { clock: later, newId: () => `run${(ids += 1)}` } });
}
