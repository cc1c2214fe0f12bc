import type { ModelMessage, UIMessage } from "ai";
import type { ObjectHost } from "../../../src/agent/object-host.ts";
import { isFailure, isWaitingResult } from "../../../src/actions/declare/action-errors.ts";
import { inTurnContext } from "../../../src/core/turn/turn-context.ts";
import { ModelFiles } from "../../../src/messengers/turns/model-files.ts";
import { loadFiles } from "../../../src/turn/model/load-files.ts";
import type { LoadFilesOptions } from "../../../src/turn/model/load-files.ts";
import { ReplyText, textOfParts } from "../../../src/turn/reply-text.ts";
import type { ReplyTextSink } from "../../../src/turn/reply-text.ts";
import type { TurnOutcome } from "../../../src/turn/turn-engine-options.ts";
import type { TurnOperations } from "../../../src/turn/tools/turn-operations.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { OperationStore, StoredOperation } from "../oracle/contract.ts";
import { effectTold, partsOf, questionsOf, textOfQuestion } from "../oracle/stored-message.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import { actionName } from "./bot-actions.ts";
import { codeText } from "./code-bot.ts";
import { extensionTool } from "./extension-bot.ts";
import { PlayedHooks } from "./played-hooks.ts";
import { createScript } from "../plan/model-script.ts";
import type { ScriptOptions } from "../plan/model-script.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Random } from "../../support/random.ts";
import type { Trace } from "../machine/trace.ts";

export interface ModelEngineOptions {
  readonly life: Life;
  readonly operations: OperationStore;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly trace: Trace;
  readonly interruptedStep: "restart" | "continue";
  /** Returns the number of a new operation, unique in the run. */
  readonly nextTurn: () => number;
  readonly script: (threadId: string) => Omit<ScriptOptions, "callsAction">;
  /** The object whose turns it runs. */
  readonly object: ObjectHost;
  readonly mutant: Mutant | undefined;
}

/** Chunks between two durable states of a stream. */
const STORE_EVERY = 3;
const REST_MS = 300;
const TOOL_MS = 200;
/** The id of an operation's only call of a tool. */
const CALL = "0";
const MAX_CONTEXT_TOKENS = 100_000;

/**
 * The turn engine with a scripted model in place of the harness: durable operations, streaming, failures, resumption
 * after a crash. It keeps the contract of `TurnEngine` that the thread's runtime uses.
 */
export class ModelEngine implements TurnOperations {
  readonly events: TurnEvents;
  /** No hook waits for the end of turns. */
  readonly ends: TurnOperations["ends"] = { isAwaited: false, tell: () => Promise.resolve() };
  readonly #options: ModelEngineOptions;
  readonly #texts = new Map<string, ReplyText>();
  /** Operations whose model is working in this process, with the timer of their next chunk. */
  readonly #running = new Map<string, unknown>();
  /** What stops the actions of operations. */
  readonly #stops = new Map<string, AbortController>();
  /** Length of an operation's text when its call failed in this process. */
  readonly #saidLengths = new Map<string, number>();
  #modelFiles: ModelFiles | undefined;
  /** Undefined in a bot without extensions. */
  readonly #hooks: PlayedHooks | undefined;

  constructor(options: ModelEngineOptions) {
    this.#options = options;
    const { life, object, oracle } = options;
    this.events = new TurnEvents(life.clock);
    const watch = oracle.extensions;
    this.#hooks = watch.isPlanned ? new PlayedHooks({ life, object, watch }) : undefined;
  }

  async start(
    operationId: string,
    session: string,
    [message]: readonly UIMessage[],
    sink: ReplyTextSink,
  ): Promise<void> {
    if (message === undefined) throw new Error("A turn was begun without a question");
    const { life, operations, oracle, random, nextTurn, script: optionsOf } = this.#options;
    await this.follow(operationId, session, sink);
    if (!operations.has(operationId)) {
      const questions = questionsOf(message);
      const threadId = oracle.inbox.threadOf(questions[0] ?? "") ?? "";
      const turn = nextTurn();
      const plan = oracle.approvals.planned(questions);
      const code = plan === undefined ? oracle.code.planned(questions) : undefined;
      const child = (plan ?? code) ? undefined : oracle.children.planned(questions);
      const undoes = (plan ?? code ?? child) === undefined && oracle.code.wantsUndo(questions);
      const [, told] = /^q6(\d{5})$/.exec(questions[0] ?? "") ?? [];
      if (told !== undefined) oracle.children.onOutcome(Number(told), threadId, textOfQuestion(message));
      const effect = effectTold(message);
      if (effect !== undefined) oracle.approvals.onOutcome(effect, turn);
      oracle.onTurn(turn, threadId, operationId, questions, operations);
      oracle.inbox.onTurn(threadId, operationId, message);
      const options = {
        ...optionsOf(threadId),
        callsAction: undoes || (plan ?? code ?? child) !== undefined,
      };
      oracle.questions.secrets.asksModel(message, operationId);
      const script = createScript(random.fork(`turn/${turn}`), turn, questions, options);
      const callOf = (): StoredOperation["call"] => {
        if (child !== undefined)
          return { token: child.token, action: `task_${child.token}`, effect: `task${turn}` };
        if (code !== undefined)
          return { token: code.token, action: "codemode", effect: `work${turn}`, code: codeText(code, turn) };
        if (undoes) return { token: "", action: "undo", effect: `undo${turn}` };
        if (plan === undefined) return undefined;
        const { size, token } = plan;
        const action = oracle.extensions.acts(token) ? extensionTool(token) : actionName(plan);
        return { token, action, effect: `effect${turn}`, size };
      };
      const operation: StoredOperation = {
        id: operationId,
        session,
        threadId,
        script,
        questions,
        question: message,
        status: "running",
        attempt: 0,
        failures: 0,
        said: [],
        tool: "none",
        text: "",
        call: callOf(),
        isParked: false,
      };
      life.write("operation", () => operations.set(operationId, operation));
    }
    this.#run(operationId, false);
  }

  async follow(operationId: string, _session: string, sink: ReplyTextSink): Promise<void> {
    if (this.#texts.has(operationId)) return;
    const operation = this.#options.operations.get(operationId);
    this.#texts.set(operationId, new ReplyText(sink, operation === undefined ? [] : partsOf(operation)));
  }

  async resumeAll(): Promise<void> {
    for (const operation of this.#options.operations.values()) {
      if (operation.status === "running") this.#run(operation.id, true);
    }
  }

  async abort(operationId: string, _session: string): Promise<void> {
    const { life, operations, random } = this.#options;
    const operation = operations.get(operationId);
    if (operation?.status !== "running") return;
    life.clock.clearTimeout(this.#running.get(operationId));
    this.#running.delete(operationId);
    this.#stops.get(operationId)?.abort();
    await new Promise<void>((resolve) => void life.clock.setTimeout(resolve, random.int(0, 150)));
    life.write("abort", () => {
      operation.status = "aborted";
      operation.wasStopped = true;
    });
    this.#texts.delete(operationId);
    this.#onSettled();
  }

  async outcome(operationId: string, _session: string): Promise<TurnOutcome> {
    const operation = this.#options.operations.get(operationId);
    if (operation === undefined) return { kind: "unknown" };
    const text = textOfParts(partsOf(operation));
    switch (operation.status) {
      case "running":
        return { kind: "open" };
      case "done":
        return { kind: "done", text };
      case "failed":
        return { kind: "failed", text };
      case "aborted":
        return { kind: "stopped", text };
      default:
        return operation.status satisfies never;
    }
  }

  textSoFar(operationId: string): string {
    return this.#texts.get(operationId)?.text ?? "";
  }

  isRepeating(operationId: string): boolean {
    return this.textSoFar(operationId).length <= (this.#saidLengths.get(operationId) ?? -1);
  }

  async forget(): Promise<void> {
    // The scripted model reads no transcript.
  }

  async messagesOf(): Promise<readonly ModelMessage[]> {
    return [];
  }

  /** Nobody streams a turn of the simulation. */
  ended(operationId: string, session: string): Promise<TurnOutcome> {
    return this.outcome(operationId, session);
  }

  /** No bot of the simulation has memory. */
  search(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  observe(): () => void {
    return () => undefined;
  }

  sendsReasoning(): boolean {
    return false;
  }

  #onSettled(): void {
    if (!this.#options.life.isDead) this.#options.object.thread.poke();
  }

  #run(operationId: string, isResumed: boolean): void {
    const { life, operations, interruptedStep, trace } = this.#options;
    const operation = operations.get(operationId);
    if (operation?.status !== "running" || this.#running.has(operationId)) return;
    if (isResumed && interruptedStep === "restart") this.#startOver(operation);
    trace.add(
      life.name,
      () => `model answers ${operation.questions.join(" ")} (${operationId}), attempt ${operation.attempt}`,
    );
    this.#running.set(operationId, undefined);
    void life.guard(() => this.#begin(operation));
  }

  /** Calls the model, after the files of the question are loaded. */
  async #begin(operation: StoredOperation): Promise<void> {
    const { oracle } = this.#options;
    if (operation.question.parts.some(({ type }) => type === "file")) {
      const options = { maxContextTokens: MAX_CONTEXT_TOKENS, resolveFile: this.#resolveFile };
      const messages = await loadFiles([operation.question], options).catch(() => undefined);
      if (!this.#isAtWork(operation)) return;
      if (messages === undefined) {
        this.#running.delete(operation.id);
        this.#settle(operation, "failed", "");
        return;
      }
      oracle.inbox.onFiles(operation.questions, messages);
    }
    await this.#hooks?.beforeTurn(operation);
    if (!this.#isAtWork(operation)) return;
    if (operation.tool === "none") {
      this.#later(operation, operation.script.firstTokenMs, operation.text.length, 0);
    } else await this.#tool(operation);
  }

  readonly #resolveFile: LoadFilesOptions["resolveFile"] = async (url, mediaType, name) => {
    const found = await this.#files().resolve(url, mediaType, name, undefined);
    const isLost = found?.kind === "text" && found.text.includes("could not be loaded");
    if (isLost && this.#options.mutant?.isFileVital === true) throw new Error("The file is missing.");
    return found;
  };

  #files(): ModelFiles {
    const { life, object } = this.#options;
    const { log, thread } = object;
    return (this.#modelFiles ??= new ModelFiles({
      clock: life.clock,
      log: () => log,
      files: thread.files,
      transcripts: undefined,
    }));
  }

  #isAtWork(operation: StoredOperation): boolean {
    const { life } = this.#options;
    return !life.isDead && operation.status === "running" && this.#running.has(operation.id);
  }

  /** Drops the text of the interrupted call. Earlier text and tools stay. */
  #startOver(operation: StoredOperation, said = operation.text): void {
    this.#texts.get(operation.id)?.onInterrupted(partsOf({ ...operation, text: said }));
    this.#options.life.write("attempt", () => {
      operation.attempt += 1;
      operation.text = "";
    });
    this.#texts.get(operation.id)?.onMessage(partsOf(operation));
  }

  #later(operation: StoredOperation, delayMs: number, at: number, chunks: number): void {
    const { life } = this.#options;
    const step = (): void => void life.guard(() => this.#chunk(operation, at, chunks));
    this.#running.set(operation.id, life.clock.setTimeout(step, delayMs));
  }

  async #chunk(operation: StoredOperation, at: number, chunks: number): Promise<void> {
    const { life } = this.#options;
    const { script, attempt, said } = operation;
    const whole = script.text(said.length, attempt);
    const isLast = said.length === script.tools.length;
    const { failsAt } = (isLast ? script.attempts[operation.failures] : undefined) ?? { failsAt: 1 };
    const end = failsAt >= 1 ? whole.length : Math.floor(whole.length * failsAt);
    if (at >= end) {
      this.#hooks?.onStep(whole);
      if (!isLast) {
        await this.#endStep(operation, whole);
        return;
      }
      this.#running.delete(operation.id);
      if (failsAt < 1) this.#fail(operation, whole.slice(0, end));
      else this.#settle(operation, "done", whole);
      return;
    }
    const next = Math.min(end, at + script.chunkLength);
    const delta = whole.slice(at, next);
    this.#texts.get(operation.id)?.onChunk({ type: "text-delta", id: "0", delta });
    this.#hooks?.onChunk(delta);
    if (chunks % STORE_EVERY === STORE_EVERY - 1) {
      life.write("stream", () => (operation.text = whole.slice(0, next)));
    }
    this.#later(operation, script.paceMs, next, chunks + 1);
  }

  async #endStep(operation: StoredOperation, whole: string): Promise<void> {
    const { life } = this.#options;
    this.#running.set(operation.id, undefined);
    life.write("step", () => {
      operation.said = [...operation.said, whole];
      operation.text = "";
      operation.tool = "waits";
    });
    this.#texts
      .get(operation.id)
      ?.onChunk({ type: "tool-input-available", toolCallId: "0", toolName: "tool", input: {} });
    await this.#tool(operation);
  }

  /** Runs a tool. A tool that had begun when its process died does not run again, and the model is told. */
  async #tool(operation: StoredOperation): Promise<void> {
    const { life, mutant, object, oracle, trace } = this.#options;
    const { thread } = object;
    const { threadId } = operation;
    const tool = operation.script.tools[operation.said.length - 1] ?? "lookup";
    // The ledger decides whether an interrupted action runs again.
    if (operation.tool === "waits" || tool === "action") {
      const decision =
        tool === "lookup" ? "run" : (mutant?.beforeTool?.() ?? (await thread.beforeTool(operation.id)));
      if (!this.#isAtWork(operation) || decision === "block") return;
      if (tool !== "lookup") thread.own.calls.begin(operation.id, CALL);
      life.write("tool", () => (operation.tool = "began"));
      trace.add(life.name, () => `the tool of ${operation.id} runs (${tool})`);
      if (tool === "effect") oracle.inbox.onEffect(threadId, operation.id, operation.questions);
      if (tool === "action") await this.#act(operation);
      else await new Promise<void>((resolve) => void life.clock.setTimeout(resolve, TOOL_MS));
      if (!this.#isAtWork(operation)) return;
    }
    const decision = mutant?.beforeStep?.() ?? (await thread.beforeStep(operation.id));
    if (!this.#isAtWork(operation)) return;
    oracle.inbox.onStep(threadId, operation, decision);
    if (decision === "yield") {
      this.#running.delete(operation.id);
      this.#settle(operation, "aborted", "");
      return;
    }
    if (thread.own.calls.isWaiting(operation.id, CALL)) {
      operation.isParked = true;
      thread.own.calls.endHere(operation.id, "parking");
      this.#running.delete(operation.id);
      this.#settle(operation, "aborted", "");
      return;
    }
    life.write("step", () => (operation.tool = "none"));
    this.#later(operation, operation.script.firstTokenMs, 0, 0);
  }

  /** Calls an action as the product offers it to the model. */
  async #act(operation: StoredOperation): Promise<void> {
    const { call, id, threadId } = operation;
    const { oracle } = this.#options;
    if (call === undefined) throw new Error(`${id} has no action to call.`);
    const { action, code, effect, size, token } = call;
    if (code !== undefined) return this.#runCode(operation, code);
    if (effect.startsWith("task")) return this.#giveTask(operation);
    if (action === "undo") return void (await this.#call(operation, "undo", {}));
    const called = oracle.approvals.calls(call, threadId);
    const input = oracle.extensions.acts(token)
      ? { effect, say: `Let ${effect} happen` }
      : { effect, ...(size !== undefined && { size }) };
    const { isCut, output } = await this.#call(operation, action, input);
    if (isCut) return;
    if (isWaitingResult(output)) oracle.approvals.asked(called);
    else if (!isFailure(output)) called.hasResult = true;
  }

  /** Runs code as the product offers it to the model. */
  async #runCode(operation: StoredOperation, code: string): Promise<void> {
    const { oracle } = this.#options;
    const { call, id, questions } = operation;
    const plan = oracle.code.planned(questions);
    if (plan === undefined || call === undefined) throw new Error(`${id} has no code to run.`);
    oracle.code.begins(plan, Number(call.effect.slice("work".length)), operation);
    await this.#call(operation, "codemode", { code });
  }

  /** Gives a task to another agent. */
  async #giveTask(operation: StoredOperation): Promise<void> {
    const { oracle } = this.#options;
    const { call, id, questions } = operation;
    const plan = oracle.children.planned(questions);
    if (plan === undefined || call === undefined) throw new Error(`${id} has no task to give.`);
    const task = Number(call.effect.slice("task".length));
    oracle.children.begins(plan, task, operation);
    const { isCut, output } = await this.#call(operation, call.action, { effect: call.effect });
    if (!isCut) oracle.children.result(task, output);
  }

  /** Calls a tool. `isCut`: the turn or the process has ended before. */
  async #call(
    { id }: StoredOperation,
    name: string,
    input: object,
  ): Promise<{ readonly output: unknown; readonly isCut: boolean }> {
    const { life, object } = this.#options;
    const stop = new AbortController();
    this.#stops.set(id, stop);
    const output: unknown = await inTurnContext(object.thread.own.info(id), undefined, async () => {
      const tools = await object.actions.tools({ clock: life.clock, log: object.log });
      const options = { toolCallId: CALL, messages: [], abortSignal: stop.signal, context: undefined };
      const work = async (): Promise<unknown> => tools[name]?.execute?.(input, options);
      return this.#hooks === undefined ? work() : this.#hooks.aroundCall(name, input, work);
    });
    return { output, isCut: life.isDead || stop.signal.aborted };
  }

  #fail(operation: StoredOperation, said: string): void {
    const isLast = operation.failures + 1 >= operation.script.attempts.length;
    operation.failures += 1;
    if (isLast) {
      this.#settle(operation, "failed", said);
      return;
    }
    this.#saidLengths.set(operation.id, this.textSoFar(operation.id).length);
    this.#startOver(operation, said);
    this.#later(operation, REST_MS, 0, 0);
    this.#onSettled();
  }

  #settle(operation: StoredOperation, status: "done" | "failed" | "aborted", text: string): void {
    const { life } = this.#options;
    life.write("settle", () => {
      operation.status = status;
      operation.text = text;
    });
    this.#texts.delete(operation.id);
    this.#saidLengths.delete(operation.id);
    this.#onSettled();
  }
}
