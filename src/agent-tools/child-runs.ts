import { runBotCode } from "../core/time/bot-code.ts";
import type { Json } from "../core/message/content.ts";
import { wait } from "../core/base/deps.ts";
import { errorCode, failureCode } from "../core/base/errors.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { restAfter } from "../core/base/rest-after.ts";
import { SCHEDULE_DELETED } from "../core/turn/scheduled-run.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { AskedCall, SystemCaller } from "../messengers/tools/action-consent.ts";
import type { AskedId } from "../scheduled-runs/run-questions.ts";
import { AGENT_TOOLS } from "./agent-tool-calls.ts";
import type { RunAnswer, RunAsks, RunEnded, RunRequest, RunState, RunWaits } from "./agent-tool-calls.ts";
import type { AgentToolMethods } from "./agent-tool-options.ts";

/** Longest words of an agent that its caller reads. A row has 2 MB. */
const LONGEST_TEXT = 200_000;
/** An object that is to be deleted may work for some 25 seconds. */
const MOST_LOOKS = 12;
const LOOK_AGAIN_MS = 20;
const LOOK_AGAIN_MOST_MS = 5_000;
/** Later work is that of schedules, which end with it. */
const SOON_MS = 60_000;

/**
 * The runs of this object for other conversations. A run is a turn, with the turns that follow from its questions to people
 * and from what it has begun: see `ScheduledTurns`.
 */
export class ChildRuns {
  readonly #host: FeatureHost<AgentToolMethods>;
  /** The newest line of progress that the keeper does not know, by run. A run that is not in here is not being told. */
  readonly #lines = new Map<string, string | undefined>();

  /** Whether an agent that this run has called waits for people. */
  readonly #waitsBelow: (id: string) => boolean;

  constructor(host: FeatureHost<AgentToolMethods>, waitsBelow: (id: string) => boolean) {
    this.#host = host;
    this.#waitsBelow = waitsBelow;
  }

  begin({ id, prompt, run }: RunRequest): Promise<void> {
    return this.#host.runs.submit({
      id,
      prompt,
      recites: undefined,
      address: undefined,
      metadata: undefined,
      run,
    });
  }

  async look(id: string): Promise<RunState> {
    const report = await this.#host.runs.report(id);
    switch (report.state) {
      case "open":
      case "waiting":
        return this.#asked(this.#host.runs.waiting(id)) ?? { kind: this.#waitsBelow(id) ? "waits" : "open" };
      case "completed":
        return this.#completed(id, report.text ?? "");
      case "failed":
      case "skipped":
        return failed(report.code);
    }
  }

  async #completed(id: string, text: string): Promise<RunEnded> {
    const { agent, deps, log } = this.#host;
    const ended = { kind: "ended", status: "completed", text: text.slice(0, LONGEST_TEXT) } as const;
    if (agent.getAgentToolOutput === undefined) return ended;
    try {
      const output = await runBotCode({ clock: deps.clock, log }, "getAgentToolOutput", () =>
        agent.getAgentToolOutput?.(id),
      );
      return output === undefined ? ended : { ...ended, output: JSON.parse(JSON.stringify(output)) as Json };
    } catch {
      // The log has the reason.
      return { kind: "ended", status: "error", error: "The agent could not give its output." };
    }
  }

  /** Returns a question that the keeper of the run has to ask, or that this agent has asked. Undefined if it is over. */
  #asked(of: AskedId | undefined): RunAsks | RunWaits | undefined {
    if (of === undefined) return undefined;
    const { asking, consent } = this.#host.features;
    const isConsent = "approvalId" in of;
    const state: AskedCall | undefined = isConsent
      ? consent?.stateOf(of.approvalId)
      : asking?.stateOf(of.parkedId);
    if (state?.kind !== "waiting") return undefined;
    if (!state.isAskedByCaller) return { kind: "waits" };
    if (isConsent) return { kind: "asks", of, message: escapeMarkdown(state.question) };
    if (state.form === undefined) return undefined;
    const { questionId, schema } = state.form;
    return { kind: "asks", of: { ...of, questionId }, message: state.question, schema };
  }

  async answer(of: RunAsks["of"], answer: RunAnswer, by: SystemCaller): Promise<void> {
    const { asking, consent } = this.#host.features;
    if ("approvalId" in of && "decision" in answer) await consent?.answer(of.approvalId, answer.decision, by);
    else if ("parkedId" in of && "content" in answer)
      await asking?.answer(of.parkedId, of.questionId, answer.content, by);
    await this.#host.stored();
  }

  async end(id: string): Promise<void> {
    const { runs, thread } = this.#host;
    for (const turn of runs.turnsOf(id)) thread.cancel(turn);
    await runs.end(id);
  }

  /**
   * Deletes the object, once people see that it asks them nothing any more: nobody else could take its cards back. The
   * caller gets its answer first.
   */
  async clear(): Promise<void> {
    const { agent, deps } = this.#host;
    for (let looks = 1; looks <= MOST_LOOKS && this.#hasWork(); looks += 1)
      await wait(deps.clock, restAfter(looks, LOOK_AGAIN_MS, LOOK_AGAIN_MOST_MS));
    this.#host.later(() => void agent.destroy());
  }

  #hasWork(): boolean {
    const { deps, features, thread } = this.#host;
    const at = Math.min(features.nextWakeAt() ?? Infinity, thread.delivery.nextWakeAt() ?? Infinity);
    return features.isBusy() || at < deps.clock.now() + SOON_MS;
  }

  /** Tells the keeper of a run how far it is. A keeper that is slow gets the newest line only. */
  progressed(turnId: string, line: string): void {
    const run = this.#host.runs.runOf(turnId);
    if (run?.delegation === undefined) return;
    const { keeper, taskId } = run.schedule;
    const isTelling = this.#lines.has(taskId);
    // The keeper writes its own line with the words.
    this.#lines.set(taskId, line.replace(/^⏳ /u, "").replaceAll(/\\(.)/gu, "$1"));
    if (!isTelling) void this.#tell(keeper, taskId);
  }

  async #tell(keeper: string, id: string): Promise<void> {
    try {
      for (let line = this.#lines.get(id); line !== undefined; line = this.#lines.get(id)) {
        this.#lines.set(id, undefined);
        await this.#host.objects.to(AGENT_TOOLS, keeper).showProgress(id, line);
      }
    } catch (error) {
      this.#host.log.info("agent-tool.not-reached", { run: id, code: failureCode(error) });
    } finally {
      this.#lines.delete(id);
    }
  }
}

function failed(code: string | undefined): RunEnded {
  const isStopped = code === "stopped" || code === SCHEDULE_DELETED;
  if (isStopped) return { kind: "ended", status: "aborted", error: "The run was stopped." };
  return {
    kind: "ended",
    status: "error",
    // The code of a failure is a word of ours, or of the bot's author.
    error: `The agent has failed (${errorCode({ code }) ?? "turn-failed"}). The log says more.`,
  };
}
