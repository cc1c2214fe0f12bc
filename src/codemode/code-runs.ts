import type { ActionOutput } from "../actions/declare/action-errors.ts";
import { codeCallId } from "../core/action/code-call.ts";
import type { Json } from "../core/message/content.ts";
import { failureCode } from "../core/base/errors.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { AskedCall } from "../messengers/tools/action-consent.ts";
import { factsOfTurn } from "../messengers/tools/call-facts.ts";
import { outcomeMessage } from "../messengers/turns/outcome-message.ts";
import { answeredOwner, approvedOwner } from "../messengers/turns/turn-attachments.ts";
import { followRun } from "../scheduled-runs/run-chain.ts";
import type { RunQuestion, RunQuestions } from "../scheduled-runs/run-questions.ts";
import type { ExecuteResult } from "../sandbox/executor.ts";
import { channelOf, contextJson, factsOf } from "./code-context.ts";
import { CodePass } from "./code-pass.ts";
import type { PassEnd } from "./code-pass.ts";
import type { CodeCall, CodeRun, CodeStore } from "./code-store.ts";
import { outputOf } from "./outcomes.ts";
import type { ProxyToolOutput } from "./outcomes.ts";
import type { ConnectedRuntime } from "./connected-runtime.ts";

interface CodeRunsOptions {
  readonly host: FeatureHost<unknown>;
  readonly store: CodeStore;
  /** Returns a runtime of the bot, if it has been made in this life of the object. */
  readonly runtimeOf: (runtime: string) => ConnectedRuntime | undefined;
  /** Makes sure that the bot's runtimes are known. */
  readonly load: () => Promise<void>;
}

/** A tool call of a turn that runs code. */
export interface CodeRequest {
  readonly runtime: string;
  readonly code: string;
  readonly requestId: string;
  readonly toolCallId: string;
  readonly signal: AbortSignal | undefined;
}

const KEEP_MS = 365 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
const AGAIN_AFTER_MS = 2_500;
const STOPPED = "The turn was stopped before the code had ended.";

/**
 * The runs of code in one conversation.
 *
 * 1. A run is stored before its code begins. The tool call of a turn finds its run again, whatever happened in between.
 * 2. A run that waits for people costs nothing but its rows. When all its questions have an end, its code runs again
 *    from its start, outside of the turn.
 * 3. The end of such a run, and the turn that is told of it, are one transaction.
 * 4. A run has one pass at a time.
 */
export class CodeRuns implements RunQuestions {
  readonly #options: CodeRunsOptions;
  readonly #running = new Map<string, Promise<ProxyToolOutput>>();
  readonly #waiters = new Map<string, (() => void)[]>();
  readonly #sweep: Sweep;

  constructor(options: CodeRunsOptions) {
    const { database, deps } = options.host;
    this.#options = options;
    const old = [{ table: "code_run_v1", key: "id", since: "ended_at", keepMs: KEEP_MS }];
    this.#sweep = new Sweep(database, deps.clock, old, SWEEP_EVERY_MS);
  }

  /** Runs the code of a tool call, or joins the run that it has begun. */
  async begin({ code, requestId, runtime, signal, toolCallId }: CodeRequest): Promise<ProxyToolOutput> {
    const { host, store } = this.#options;
    const { deps, features, runs, thread } = host;
    const known = store.ofCall(requestId, toolCallId);
    if (known !== undefined && (known.state !== "running" || known.isResumed)) return this.output(known);
    const turn = thread.own.info(requestId);
    const facts = factsOfTurn(turn, features, runs.runs.get(requestId));
    const run: CodeRun = known ?? {
      id: deps.newId(),
      runtime,
      requestId,
      toolCallId,
      code,
      state: "running",
      context: contextJson(facts, turn?.channel),
      isResumed: false,
      resumedBy: undefined,
      result: undefined,
      error: undefined,
      logs: undefined,
      createdAt: deps.clock.now(),
      endedAt: undefined,
    };
    if (known === undefined) store.insert(run);
    return this.#go(run, signal);
  }

  /**
   * Returns the runs of a turn that have waited for people, as those see them who follow the run of a schedule. A refused
   * one is told by the question that was refused.
   */
  ofTurn(turnId: string): RunQuestion[] {
    return this.#options.store
      .ofTurn(turnId)
      .filter(({ isResumed, state }) => state === "paused" || (isResumed && state !== "rejected"))
      .map(({ id, state }) => ({
        state: state === "paused" ? "waiting" : state === "running" ? "open" : "over",
        ending: undefined,
        outcomeKey: outcomeKeyOf(id),
      }));
  }

  /** Approvals and questions tell for whom code waits, and who has asked. */
  waitingIn(): undefined {
    return undefined;
  }

  askedBy(): undefined {
    return undefined;
  }

  dropRun(): void {
    // The questions of its code are dropped, which ends it.
  }

  isOpen(id: string): boolean {
    const { host, store } = this.#options;
    const run = store.get(id);
    if (run === undefined || run.endedAt === undefined) return run !== undefined;
    const followed = { questions: host.features.runQuestions, prompts: host.thread.own.prompts };
    return followRun(followed, run.requestId).state === "open";
  }

  output(run: CodeRun): ProxyToolOutput {
    return outputOf(run, this.#options.store.calls(run.id));
  }

  /** Does all due work: ends and resumes runs. */
  work(): void {
    const { host, store } = this.#options;
    for (const run of store.open()) {
      if (this.#running.has(run.id)) continue;
      if (run.state === "paused") this.#look(run);
      else if (run.isResumed) this.#resume(run);
      else if (!host.thread.own.isRunning(run.requestId)) this.#stopped(run);
    }
    if (this.#sweep.run()) store.sweepCalls();
  }

  isBusy(): boolean {
    return this.#running.size > 0;
  }

  nextWakeAt(): number | undefined {
    const { host, store } = this.#options;
    const isDue = store.open().some(({ isResumed, state }) => state === "running" && isResumed);
    return isDue ? host.deps.clock.now() + AGAIN_AFTER_MS : undefined;
  }

  /** Resolves when a paused run has gone on, to its next question or its end. */
  async moved(id: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.set(id, [...(this.#waiters.get(id) ?? []), resolve]);
    });
  }

  /**
   * Decides about the waiting calls of a run, or about one. Returns the number of calls that this has decided.
   */
  async decide(run: CodeRun, decision: "approve" | "reject", seq?: number): Promise<number> {
    const { host, store } = this.#options;
    let decided = 0;
    for (const call of store.calls(run.id)) {
      if (call.state !== "pending" || (seq !== undefined && call.position !== seq)) continue;
      if (call.asked?.startsWith("approval:") !== true || this.stateOf(call)?.kind !== "waiting") continue;
      const by = { name: "code", person: undefined, messengerId: undefined };
      await host.features.consent?.answer(call.asked.slice("approval:".length), decision, by);
      decided += 1;
    }
    await host.stored();
    return decided;
  }

  /** Returns how the question of a call stands. Undefined if it is not kept any more. */
  stateOf({ asked }: CodeCall): AskedCall | undefined {
    const { asking, consent } = this.#options.host.features;
    const [kind, ...id] = (asked ?? "").split(":");
    return kind === "approval" ? consent?.stateOf(id.join(":")) : asking?.stateOf(id.join(":"));
  }

  /** Compares the questions of a paused run with their ends. */
  #look(run: CodeRun): void {
    const { host, store } = this.#options;
    const pending = store.calls(run.id).filter(({ state }) => state === "pending");
    const states = pending.map((call) => ({ call, asked: this.stateOf(call) }));
    if (states.some(({ asked }) => asked !== undefined && asked.kind !== "ended")) {
      const refused = states.find(({ asked }) => isRefused(asked));
      if (refused !== undefined) void this.#takeBack(states.filter((one) => one !== refused));
      return;
    }
    const refused = states.find(({ asked }) => asked === undefined || isRefused(asked));
    const resumed = { state: "running", isResumed: true, resumedBy: states.at(-1)?.call.asked } as const;
    host.database.transaction(() => {
      for (const { asked, call } of states) this.#keepEnd(call, asked);
      // A refused run whose calls have an end, and which has none itself, would go on.
      if (refused !== undefined) this.#finish(run, { state: "rejected", error: wordsOf(refused.asked) });
      else store.change(run.id, resumed);
    });
    if (refused === undefined) this.#resume({ ...run, ...resumed });
  }

  #keepEnd(call: CodeCall, asked: AskedCall | undefined): void {
    const { store } = this.#options;
    // The tool of a connector has stored its whole result itself.
    if (store.call(call.run, call.position)?.state !== "pending") return;
    if (asked === undefined || asked.kind !== "ended")
      store.changeCall(call, { state: "error", result: "Nobody knows how it ended." });
    else {
      const failure = failureIn(asked.output);
      store.changeCall(
        call,
        failure === undefined
          ? { state: "applied", result: asked.output }
          : { state: "error", result: failure },
      );
    }
  }

  /** One person has said no, so the others need not answer. */
  async #takeBack(others: readonly { readonly call: CodeCall }[]): Promise<void> {
    const { consent } = this.#options.host.features;
    const by = { name: "code", person: undefined, messengerId: undefined };
    for (const { call } of others) {
      const [kind, ...id] = (call.asked ?? "").split(":");
      if (kind === "approval") await consent?.answer(id.join(":"), "reject", by);
    }
  }

  #resume(run: CodeRun): void {
    this.#go(run, undefined).catch((error: unknown) => {
      this.#options.host.log.error("code.failed", { run: run.id, code: failureCode(error) });
    });
  }

  async #go(run: CodeRun, signal: AbortSignal | undefined): Promise<ProxyToolOutput> {
    const running = this.#running.get(run.id);
    if (running !== undefined) return running;
    const work = this.#passes(run, signal).finally(() => {
      this.#running.delete(run.id);
      this.#options.host.wakeSoon();
      this.#moved(run.id);
    });
    this.#running.set(run.id, work);
    return work;
  }

  #moved(id: string): void {
    for (const resolve of this.#waiters.get(id) ?? []) resolve();
    this.#waiters.delete(id);
  }

  async #passes(run: CodeRun, signal: AbortSignal | undefined): Promise<ProxyToolOutput> {
    for (;;) {
      const end = await this.#pass(run, signal);
      if (end.kind === "slow" || end.kind === "stopped")
        await end.settled.catch(() => {
          // The next pass meets the stored failure.
        });
      if (end.kind !== "slow") return this.#ended(run, end);
    }
  }

  async #pass(run: CodeRun, signal: AbortSignal | undefined): Promise<PassEnd> {
    const { host, runtimeOf, store } = this.#options;
    await this.#options.load();
    const runtime = runtimeOf(run.runtime);
    if (runtime === undefined)
      return {
        kind: "ended",
        end: { result: undefined, error: "The bot does not run this code any more. Nothing more was done." },
      };
    const pass = new CodePass({
      run,
      store,
      clock: host.deps.clock,
      executor: runtime.executor,
      slowAfterMs: runtime.slowAfterMs,
      connectors: runtime.connectors(),
      signal,
      call: (call) => this.#call(run, call, runtime),
    });
    return pass.run();
  }

  #call(run: CodeRun, call: CodeCall, runtime: ConnectedRuntime): Promise<ActionOutput> {
    const { actions, thread } = this.#options.host;
    const toolCallId = codeCallId(run.id, call.position);
    // A message that changes later must not withdraw a turn whose code has had an effect.
    if (!run.isResumed && !runtime.isRead(call)) thread.own.calls.begin(run.requestId, toolCallId);
    return actions.runConsented({
      name: runtime.actionOf(call),
      input: call.args,
      requestId: run.requestId,
      toolCallId,
      consent: undefined,
      facts: factsOf(run),
      owner: ownerOf(run),
    });
  }

  #ended(run: CodeRun, end: Exclude<PassEnd, { kind: "slow" }>): ProxyToolOutput {
    const { host, store } = this.#options;
    switch (end.kind) {
      case "waits":
        host.database.transaction(() => {
          store.change(run.id, { state: "paused" });
          if (!run.isResumed) host.thread.own.calls.park(run.requestId, run.toolCallId);
        });
        return this.output({ ...run, state: "paused" });
      case "stopped":
        return this.#stopped(run);
      case "ended":
        return this.#finish(run, end.end);
      default:
        return end satisfies never;
    }
  }

  /** Ends a run with its turn. One that has asked people goes on if they agree: /stop takes no question back. */
  #stopped(run: CodeRun): ProxyToolOutput {
    const { store } = this.#options;
    if (store.calls(run.id).every(({ state }) => state !== "pending"))
      return this.#finish(run, { error: STOPPED });
    store.change(run.id, { state: "paused" });
    return this.output({ ...run, state: "paused" });
  }

  /** Stores the end of a run. */
  #finish(
    run: CodeRun,
    end: Partial<ExecuteResult> & { readonly state?: CodeRun["state"] },
  ): ProxyToolOutput {
    const { host, store } = this.#options;
    const { error, limit, logs, result } = end;
    const state = end.state ?? (error === undefined ? "completed" : "error");
    const endedAt = host.deps.clock.now();
    const changes = { state, error, logs, result: (result ?? null) as Json, endedAt };
    const ended: CodeRun = { ...run, ...changes };
    host.database.transaction(() => {
      store.change(run.id, changes);
      // The decision of a person is told by whoever has asked.
      if (run.isResumed && state !== "rejected") this.#tell(ended);
    });
    host.log.info("code.ended", { run: run.id, state, ...(limit !== undefined && { limit }) });
    this.#moved(run.id);
    return this.output(ended);
  }

  /** Tells the conversation the end of a run that has waited for people, in a turn of its own. */
  #tell(run: CodeRun): void {
    const { messengers, thread } = this.#options.host;
    const { address } = factsOf(run);
    const isServed = address !== undefined && messengers.isDeclared(address.messengerId);
    const { executionId, ...result } = this.output(run);
    thread.own.submit({
      kind: "outcome",
      idempotencyKey: outcomeKeyOf(run.id),
      messages: [outcomeMessage(run.id, { action: run.runtime, input: { executionId }, result })],
      answerTo: isServed ? [address] : [],
      metadata: metadataOf(run),
      channel: channelOf(run),
    });
  }
}

/** The key of the turn that is told the end of a run. */
const outcomeKeyOf = (run: string): string => `code:${run}`;

/** The people of the turn about the outcome are those of the question that let the run go on. */
function metadataOf({ resumedBy = "" }: CodeRun): Readonly<Record<string, string>> {
  const [kind, ...id] = resumedBy.split(":");
  return { [kind === "approval" ? "approval" : "parkedCall"]: id.join(":") };
}

/** The reply that shows what the calls of a run attach. */
function ownerOf({ requestId, resumedBy }: CodeRun): string {
  if (resumedBy === undefined) return requestId;
  const [kind, ...id] = resumedBy.split(":");
  return kind === "approval" ? approvedOwner(id.join(":")) : answeredOwner(id.join(":"));
}

/** Whether the call never ran, because a person said no or nobody answered. */
function isRefused(asked: AskedCall | undefined): boolean {
  return asked?.kind === "ended" && asked.hasRun !== true;
}

function wordsOf(asked: AskedCall | undefined): string {
  const words = asked?.kind === "ended" ? failureIn(asked.output) : undefined;
  return `The run has ended, because a call in it was not agreed to: ${words ?? "nobody has answered"}. Earlier calls of it are not undone.`;
}

function failureIn(output: Json): string | undefined {
  if (typeof output !== "object" || output === null || !("error" in output)) return undefined;
  const { error } = output as { readonly error: { readonly message?: unknown } };
  return typeof error.message === "string" ? error.message : "The call failed.";
}
