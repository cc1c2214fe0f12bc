import type { UIMessage } from "ai";
import { SCHEDULE_DELETED } from "../core/turn/scheduled-run.ts";
import type { Database } from "../core/store/database.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { Delivery } from "../core/chat/delivery.ts";
import type { Deps } from "../core/base/deps.ts";
import { errorCode, failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { BotObjects } from "../messengers/root/bot-objects.ts";
import { nudgeKeeper } from "./nudge-keeper.ts";
import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { Prompt } from "../inbox/prompt-store.ts";
import { createScheduledRunStore } from "./scheduled-run-store.ts";
import type { ScheduledRunStore } from "./scheduled-run-store.ts";
import type { LegReport, LegRequest } from "./leg.ts";
import type { TurnEngine } from "../turn/turn-engine.ts";
import { recitedText, recitingMessage } from "./recited-text.ts";
import type { OwnTurns } from "../messengers/thread/own-turns.ts";
import type { ThreadMemory } from "../messengers/replies/thread-memory.ts";
import type { AskedId, RunQuestions } from "./run-questions.ts";
import { followRun } from "./run-chain.ts";
import type { RunChain } from "./run-chain.ts";
import { Sweep } from "../core/store/sweep-store.ts";

/** The conversation, as its scheduled turns use it. */
export interface ScheduledTurnsHost {
  readonly thread: {
    readonly own: OwnTurns;
    readonly delivery: Pick<Delivery, "receipt" | "settled">;
    readonly memory: Pick<ThreadMemory, "session">;
    /** Ends a turn that waits or runs. */
    cancel(id: string): boolean;
  };
  readonly engine: Pick<TurnEngine, "outcome" | "events">;
  /** The questions that turns have asked people. */
  readonly features: { readonly runQuestions: RunQuestions | undefined };
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
  readonly log: Log;
  readonly objects: Pick<BotObjects, "to" | "root">;
  /** Resolves when what was stored is sure to be worked on, also after a crash. */
  stored(): Promise<void>;
}

/** The calls about a scheduled turn to the object of its conversation. */
export interface ScheduledTurnCalls {
  /** Stores a turn, unless it is known. Resolves when it is durable. */
  submit(request: LegRequest): Promise<void>;
  report(id: string): Promise<LegReport>;
  /** Somebody has deleted the schedule of the turn. */
  end(id: string): Promise<void>;
}

export const SCHEDULED_RUNS: CallGroup<ScheduledTurnCalls> = { name: "scheduled-runs" };

/** A request for consent may wait for months, and ends long before this. */
const KEEP_RUNS_MS = 366 * 24 * 3_600_000;

/** The turns of scheduled tasks in one conversation. They wait in its queue beside everything else. */
export class ScheduledTurns implements ScheduledTurnCalls {
  /** For whom each of these turns runs. */
  readonly runs: ScheduledRunStore;
  readonly #host: ScheduledTurnsHost;
  /** The calls that wait for the end of a turn. */
  readonly #awaited = new Set<readonly [id: string]>();
  readonly #sweep: Sweep;

  constructor(host: ScheduledTurnsHost) {
    this.#host = host;
    this.runs = createScheduledRunStore(host.database);
    this.#sweep = new Sweep(host.database, host.deps.clock, [
      { table: "scheduled_run_v1", since: "created_at", keepMs: KEEP_RUNS_MS },
    ]);
  }

  /** Stores a turn, unless it is known. Resolves when it is durable. */
  async submit({ address, id, metadata, prompt, recites, run }: LegRequest): Promise<void> {
    const question: UIMessage =
      recites === undefined
        ? { id, role: "user", parts: [{ type: "text", text: prompt }] }
        : recitingMessage(id, prompt, recites);
    const { database, deps, thread } = this.#host;
    if (run !== undefined) this.runs.prepare();
    this.#sweep.run();
    database.transaction(() => {
      if (run !== undefined) this.runs.add(id, { ...run, shownIn: address }, deps.clock.now());
      thread.own.submit({
        kind: "prompt",
        id,
        messages: [question],
        answerTo: address === undefined ? [] : [address],
        metadata,
      });
    });
    await this.#host.stored();
  }

  /**
   * Ends the run of a schedule that somebody has deleted: its turn does not go on, and nobody is asked any more. May be
   * called again after a crash. Resolves when that is durable.
   */
  async end(id: string): Promise<void> {
    // A call of the turn may be on its way to a question.
    this.runs.setProblem(id, SCHEDULE_DELETED);
    this.#host.thread.cancel(id);
    this.#host.features.runQuestions?.dropRun(id);
    await this.#host.stored();
  }

  /**
   * Returns the state of a turn, with that of the turns which its questions to people have led to: the last of them has
   * the answer.
   */
  async report(id: string): Promise<LegReport> {
    const prompt = this.#host.thread.own.prompts.get(id);
    if (prompt?.state === "pending" || prompt?.state === "running") return { state: "open" };
    const { ending, outcomes, state } = this.#follow(id);
    if (state !== "over") return { state };
    const turns = [...(prompt === undefined ? [] : [prompt]), ...outcomes];
    const usage = this.#usageOf(turns);
    const messageIds = turns.flatMap((turn) => this.#messages(turn.id).ids);
    const last = turns.at(-1);
    const problem = this.runs.problemOf(id);
    const failure = problem ?? failureOf(last);
    if (failure !== undefined) {
      // Text that is still on its way will be seen, so another try would be a second answer.
      if (turns.some((turn) => this.#delivered(turn.id).state === "open")) return { state: "open" };
      const isUnwanted = problem === SCHEDULE_DELETED;
      return { state: isUnwanted ? "skipped" : "failed", code: failure, messageIds, usage };
    }
    if (last === undefined) return { state: "failed", code: "turn-lost" };
    if (ending !== undefined && outcomes.length === 0)
      return { state: "skipped", code: ending, messageIds, usage };
    if ((prompt ?? last).answerTo.length === 0)
      return { state: "completed", code: ending, text: await this.#lastTextOf(turns), usage };
    return { ...this.#shown(turns), ...(ending !== undefined && { code: ending }), usage };
  }

  /** Returns the turns of a run, the first one first. */
  turnsOf(id: string): readonly string[] {
    return [id, ...this.#follow(id).outcomes.map((outcome) => outcome.id)];
  }

  /** Returns the oldest question of a run that waits for people. */
  waiting(id: string): AskedId | undefined {
    const { runQuestions } = this.#host.features;
    return this.turnsOf(id)
      .map((turn) => runQuestions?.waitingIn(turn))
      .find((of) => of !== undefined);
  }

  /** Resolves when the newest turn of a run has ended, and its answer is visible, or after this time. */
  async settled(id: string, withinMs: number): Promise<void> {
    const call = [id] as const;
    this.#awaited.add(call);
    try {
      await withinTime(this.#host.deps.clock, withinMs, this.#settled(id), "a scheduled turn");
    } catch (error) {
      if (errorCode(error) !== "took-too-long") throw error;
    } finally {
      this.#awaited.delete(call);
    }
  }

  /**
   * The turn of a prompt has ended: whoever waits for its run is told how the run stands, once its answer is visible.
   * Call it in the transaction of that end. A message that a crash has swallowed costs a minute: the others ask then.
   */
  promptEnded(promptId: string): void {
    const id = this.rootOf(promptId);
    const run = this.runs.get(id);
    if (run !== undefined) void this.#tell(id, run);
  }

  async #tell(id: string, run: ScheduledRun): Promise<void> {
    const { log, objects } = this.#host;
    try {
      await this.#settled(id);
      // The answer to that caller tells it.
      if ([...this.#awaited].some(([awaited]) => awaited === id)) return;
      const report = await this.report(id);
      if (report.state !== "open") await nudgeKeeper(objects, run, log, { id, report });
    } catch (error) {
      log.info("schedule.not-nudged", { code: failureCode(error) });
    }
  }

  async #settled(id: string): Promise<void> {
    const { delivery, own } = this.#host.thread;
    const { prompts } = own;
    await prompts.untilEnded(id);
    const newest = this.#follow(id).outcomes.at(-1)?.id ?? id;
    await prompts.untilEnded(newest);
    // A turn that never began has no reply.
    if (delivery.receipt(newest) !== undefined) await delivery.settled(newest);
  }

  /** The state of a card that was posted in this object. */
  reportCard(id: string): LegReport {
    return this.#delivered(id);
  }

  /** Returns the run that a turn belongs to, also of a turn about an action's outcome. */
  runOf(turnId: string): ScheduledRun | undefined {
    return this.runs.get(this.rootOf(turnId));
  }

  /** Returns the first turn of the run that a turn belongs to. */
  rootOf(turnId: string): string {
    const { features, thread } = this.#host;
    const turn = thread.own.prompts.get(turnId);
    const asker = turn?.kind === "outcome" ? features.runQuestions?.askedBy(turn.metadata ?? {}) : undefined;
    return asker === undefined ? turnId : this.rootOf(asker);
  }

  /** Returns the answer that is known without asking the model. */
  recited(turnId: string): string | undefined {
    return recitedText(this.#host.thread.own.prompts.get(turnId)?.messages ?? []);
  }

  /** The messages of all turns of an answer in its chat. */
  #shown(turns: readonly Prompt[]): LegReport {
    const reports = turns.map(({ id }) => this.#delivered(id));
    const messageIds = reports.flatMap((report) => report.messageIds ?? []);
    const last = reports.at(-1) ?? { state: "open" };
    if (reports.some(({ state }) => state === "open")) return { state: "open" };
    return { ...last, messageIds };
  }

  async #lastTextOf(turns: readonly Prompt[]): Promise<string> {
    for (const { id } of turns.toReversed()) {
      const text = await this.#textOf(id);
      if (text.trim() !== "") return text;
    }
    return "";
  }

  #follow(id: string): RunChain {
    const { features, thread } = this.#host;
    return followRun({ questions: features.runQuestions, prompts: thread.own.prompts }, id);
  }

  #delivered(id: string): LegReport {
    const { code, ids, state } = this.#messages(id);
    switch (state) {
      case undefined:
      case "delivered":
      case "withdrawn":
        return { state: "completed", messageIds: ids };
      case "gone":
        return { state: "failed", code: code ?? state, isGone: true, messageIds: ids };
      case "failed":
        return { state: "failed", code: code ?? state, messageIds: ids };
      case "streaming":
      case "final":
        return { state: "open" };
    }
  }

  /** The reply of a prompt to its first chat has the id of the prompt. */
  #messages(id: string): {
    readonly state: NonNullable<ReturnType<Delivery["receipt"]>>["state"] | undefined;
    readonly ids: readonly string[];
    readonly code: string | undefined;
  } {
    const receipt = this.#host.thread.delivery.receipt(id);
    const shown = receipt?.messages.filter(({ state }) => state === "sent") ?? [];
    return {
      state: receipt?.state,
      ids: shown.flatMap(
        ({ messageId, messageIds }) => messageIds ?? (messageId === undefined ? [] : [messageId]),
      ),
      code: receipt?.code,
    };
  }

  async #textOf(id: string): Promise<string> {
    const { engine, thread } = this.#host;
    const outcome = await engine.outcome(id, thread.own.sessionOf(id) ?? thread.memory.session());
    return "text" in outcome ? outcome.text : "";
  }

  #usageOf(turns: readonly Prompt[]): LegReport["usage"] {
    const used = turns.map(({ id }) => this.#host.engine.events.stats.of(id));
    const known = used.filter(
      ({ inputTokens, outputTokens }) => inputTokens !== undefined || outputTokens !== undefined,
    );
    if (known.length === 0) return undefined;
    const money = known.reduce((sum, { cost = 0 }) => sum + cost, 0);
    return {
      ...(money > 0 && { cost: money }),
      input: known.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0),
      output: known.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0),
    };
  }
}

function failureOf(turn: Prompt | undefined): string | undefined {
  if (turn?.state === "aborted") return "stopped";
  return turn?.state === "error" ? (turn.error ?? "turn-failed") : undefined;
}
