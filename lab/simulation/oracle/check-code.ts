import type { StoredCodeRun } from "./contract.ts";
import type { CodeRun } from "./code-watch.ts";
import type { EndState, Thread } from "./end-state.ts";

/** The number of the turn whose model has written some code. */
export function turnOf(code: string): number {
  return Number(/"work(\d+)x0"/.exec(code)?.[1]);
}

/** Checks that each run of code has an end, and that people and the model were told the truth about it (I9). */
export function checkCode({ oracle, platform }: EndState, thread: Thread): void {
  const { code } = oracle;
  const stored = thread.codeRuns();
  for (const run of code.runsByTurn.values()) {
    if (run.threadId !== thread.threadId) continue;
    checkDecisions(oracle, run);
    const own = stored.filter((one) => turnOf(one.code) === run.turn);
    if (own.length > 1) oracle.fail("I9", `the code of turn ${run.turn} has ${own.length} runs`);
    for (const one of own) checkStored(oracle, thread, run, one);
  }
  for (const { text } of platform.visible(thread.threadId)) {
    const [, undone = ""] = /^\W*Undone: (.*)$/m.exec(text) ?? [];
    for (const [, effect = ""] of undone.matchAll(/\b(work\d+x\d+)\b/g))
      if (!code.isUndone(effect)) oracle.fail("I9", `people read that ${effect} is undone, and it is not`);
  }
}

function checkDecisions(oracle: EndState["oracle"], { plan, works }: CodeRun): void {
  for (const { approvedBy, begun, effect, isRejected } of works) {
    if (approvedBy.size > 0 && isRejected) oracle.fail("I9", `${effect} was decided twice`);
    // An interrupted call that nobody may repeat has begun, if it is known to have.
    if (approvedBy.size > 0 && begun.length === 0 && plan.repeats !== "never")
      oracle.fail("I9", `somebody was told that ${effect} is approved, and it never happened`);
  }
}

/** Checks the end of a run: it is there, it fits to the effects, and the model gets it once. */
function checkStored(
  oracle: EndState["oracle"],
  thread: Thread,
  run: CodeRun,
  { endedAt, id, isResumed, result, state }: StoredCodeRun,
): void {
  const { plan, works } = run;
  const hasRejected = works.some(({ isRejected }) => isRejected);
  if (endedAt === null) {
    oracle.fail("I9", `the run of code ${id} never ends: ${state}`);
    return;
  }
  if (hasRejected && state === "completed")
    oracle.fail("I9", `the run of code ${id} is ${state}, and somebody has said no`);
  // The end of an interrupted call that nobody may repeat is not known.
  const mayFail = oracle.code.isStopped(run) || plan.repeats === "never";
  if (state === "error" && !mayFail)
    oracle.fail("I9", `the run of code ${id} has failed, and nothing of it could`);
  if (state === "completed") checkResult(oracle, run, result ?? "null");
  const told = oracle.inbox.promptsOf(thread.threadId).filter((token) => token === tokenOf(id));
  const isOwed = isResumed === 1 && state === "completed";
  if (isOwed && told.length !== 1 && !thread.wasBlocked)
    oracle.fail("I9", `the model is told the end of ${id} ${told.length} times`);
}

/** Each call has given its own result to the code. */
function checkResult(oracle: EndState["oracle"], { plan, works }: CodeRun, result: string): void {
  const { ended = [] } = (JSON.parse(result) ?? {}) as { readonly ended?: readonly string[] };
  for (const { begun, effect, index } of works) {
    const given = ended[index];
    const mayFail = plan.catches && plan.repeats === "never";
    if (given === "failed" && mayFail) continue;
    if (given !== effect) oracle.fail("I9", `the call of ${effect} has given ${given} to its code`);
    else if (begun.length === 0) oracle.fail("I9", `${effect} is known to its code, and never happened`);
  }
}

/** See `outcomeToken`. */
function tokenOf(id: string): string {
  return `q8${id.slice("id-".length).padStart(5, "0")}`;
}
