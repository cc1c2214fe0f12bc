import { jsonSchema } from "ai";
import type { ToolSet } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { agentTool } from "../../../src/agent-tools/index.ts";
import { AgentToolsFeature } from "../../../src/agent-tools/agent-tools-feature.ts";
import type { AgentMethods } from "../../../src/agent/agent-methods.ts";
import type { AnyFeature } from "../../../src/agent/features.ts";
import { wait } from "../../../src/core/base/deps.ts";
import type { Mutant } from "../machine/mutant.ts";
import type { Life } from "../machine/life.ts";
import type { ChildWatch, PlannedChild } from "../oracle/child-watch.ts";
import type { PlanItem } from "../plan/plan.ts";

/** Input of the tool, and of the agent's actions. */
interface Task {
  /** Name of the task or of the effect, unique in the run. */
  readonly effect: string;
}

interface TaskCall {
  readonly input: Task;
}

const TASK = jsonSchema<Task>({
  type: "object",
  properties: { effect: { type: "string" } },
  required: ["effect"],
});

/** The class of the agents that work for others. */
export const SimulatedChild = { name: "SimulatedChild" };

const AGENT_TOOLS: AnyFeature = { name: "agent-tools", create: (host) => new AgentToolsFeature(host) };
const DAY_MS = 24 * 60 * 60 * 1_000;

export function plannedChildren(items: readonly PlanItem[]): PlannedChild[] {
  return items.filter((item): item is PlannedChild => item.kind === "child");
}

/** The feature of bots that give tasks to other agents. Other bots do not have it. */
export function childFeatures(items: readonly PlanItem[]): readonly AnyFeature[] {
  return plannedChildren(items).length === 0 ? [] : [AGENT_TOOLS];
}

/** One tool for each planned task. */
export function childTools(children: readonly PlannedChild[]): ToolSet {
  return Object.fromEntries(
    children.map(({ isDetached, token }) => [
      `task_${token}`,
      agentTool(SimulatedChild as never, {
        description: "Does a task.",
        inputSchema: TASK,
        displayName: "Helper",
        detached: isDetached,
      }),
    ]),
  );
}

/** Members of the class of a bot that gives tasks to others. */
export const PARENT_MEMBERS = { maxAgentToolDepth: 3, maxConcurrentAgentTools: 5, keepUsageMs: DAY_MS };

/** The agent's own class, in a process. */
export function childAgent(
  base: AgentMethods,
  children: readonly PlannedChild[],
  watch: ChildWatch,
  life: Life,
  mutant: Mutant | undefined,
): AgentMethods {
  const planned: ThinkActions = Object.fromEntries(
    children.flatMap((child) => [
      [`do_${child.token}`, taskAction(child, false, watch, life)],
      [`ask_${child.token}`, taskAction(child, true, watch, life)],
    ]),
  );
  return Object.assign(base, {
    getActions: () => mutant?.actions?.(planned) ?? planned,
    getTools: () => ({}),
    getMessengers: () => ({}),
    getCommands: () => ({}),
  });
}

function taskAction(
  { repeats, workMs }: PlannedChild,
  asks: boolean,
  watch: ChildWatch,
  life: Life,
): ThinkActions[string] {
  return defineAction<typeof TASK, unknown, ActionContext>({
    description: "Works.",
    inputSchema: TASK,
    approvalSummary: ({ input }: TaskCall) => `Let ${input.effect} happen`,
    async execute({ effect }: Task, { person, signal }: ActionContext) {
      life.write("child effect", () => watch.runs(effect, person?.userId, life));
      if (workMs > 0) await wait(life.clock, workMs, signal);
      return { done: effect };
    },
    ...(asks && { approval: true }),
    ...(repeats === "keyed" && { idempotencyKey: ({ input }: TaskCall) => input.effect }),
  } as never);
}
