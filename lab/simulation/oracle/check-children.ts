import type { Task } from "./child-watch.ts";
import { CHILD_TOKENS } from "./contract.ts";
import type { StoredAgentRun } from "./contract.ts";
import type { EndState, Thread } from "./end-state.ts";

/** Checks that each task of another agent has an end, and that its answer is told once (I9). */
export function checkChildren({ oracle }: EndState, thread: Thread): void {
  const runs = thread.agentRuns();
  for (const task of oracle.children.tasks.values()) {
    if (task.threadId !== thread.threadId) continue;
    const own = runs.filter(({ requestId }) => requestId === task.operation.id);
    if (own.length > 1) oracle.fail("I9", `task${task.number} has ${own.length} runs`);
    for (const run of own) checkRun(oracle, thread, task, run);
  }
}

/** Checks that the tokens of each agent are counted once, at the person who has asked for its work. */
export function checkCosts({ childTurns, counted, oracle }: EndState): void {
  for (const { id, isDone, isUncut, task: number } of childTurns) {
    const task = oracle.children.tasks.get(number);
    const requester = task && oracle.children.requesterOf(task);
    const row = counted.find(({ turnId }) => turnId === id);
    if (row !== undefined && requester !== undefined && row.userId !== requester)
      oracle.fail("I9", `task${number} is paid by ${row.userId}, and ${requester} has asked for it`);
    // A process that dies forgets the tokens that it has counted.
    if (row === undefined && isDone && isUncut && requester !== undefined)
      oracle.fail("I9", `nobody pays for task${number}`);
    if (row !== undefined && row.tokens > CHILD_TOKENS.input + CHILD_TOKENS.output)
      oracle.fail("I9", `task${number} is paid twice`);
  }
}

function checkRun(
  oracle: EndState["oracle"],
  thread: Thread,
  task: Task,
  { end, isTold, state }: StoredAgentRun,
): void {
  const { number, operation, plan, effects } = task;
  if (state !== "ended" || isTold === 0) {
    oracle.fail("I9", `the run of task${number} never ends: ${state}, ${isTold === 1 ? "told" : "not told"}`);
    return;
  }
  const { status = "" } = (JSON.parse(end ?? "{}") ?? {}) as { readonly status?: string };
  if (status === "aborted" || status === "interrupted") {
    oracle.children.figures.tasksStopped += 1;
    return;
  }
  if (status !== "completed") {
    // The end of an interrupted call is an outcome, with which the agent goes on.
    oracle.fail("I9", `task${number} ends as ${status}`);
    return;
  }
  const missing = effects.find(({ begun }) => begun.length === 0);
  const mayMiss = plan.repeats === "never" || plan.asks.includes(true);
  if (missing !== undefined && !mayMiss)
    oracle.fail("I9", `task${number} is done, and ${missing.effect} never happened`);
  const token = `q6${String(number).padStart(5, "0")}`;
  const told = oracle.inbox.promptsOf(thread.threadId).filter((one) => one === token).length;
  if (plan.isDetached && told !== 1) oracle.fail("I9", `task${number} is done, and told ${told} times`);
  const isWaiting = operation.isParked && !task.isAnswered;
  if (!plan.isDetached && isWaiting && told !== 1 && operation.wasStopped !== true)
    oracle.fail("I9", `task${number} is done, and its outcome is told ${told} times`);
}
