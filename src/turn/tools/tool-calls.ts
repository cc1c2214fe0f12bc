import type { ThinkToolCallDecision } from "agents/harness/think";
import type { ModelMessage, ToolSet } from "ai";
import { logRefusedCall } from "./log-refused-call.ts";
import { fillInputOf, isReadOnly, mayRepeatResult, mayRerun, runsBeside } from "./bot-tools.ts";
import type { ToolCallContext, ToolCallEnd, ToolCallResultContext } from "../hooks.ts";
import { INTERRUPTED } from "../model/model-messages.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { untilAborted } from "../../core/time/until-aborted.ts";
import { ReadCalls } from "./read-calls.ts";
import type { CallOutcome } from "../turn-event.ts";
import type { TurnEvents } from "../turn-events.ts";
import type { TurnHooks } from "../turn-hooks.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";

/** A call that the model has asked for, as the turn engine passes it. */
export interface ToolCall {
  readonly operationId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Runs of this call so far, counting this one. */
  readonly attempt: number;
}

interface ToolCallsParts extends Omit<TurnEngineOptions, "hooks"> {
  readonly hooks: TurnHooks;
  readonly events: TurnEvents;
}

/** Facts about the turn around a call. */
export interface CallSurroundings {
  readonly tool: ToolSet[string] | undefined;
  readonly signal: AbortSignal | undefined;
  readonly stepNumber: number;
  readonly messages: () => Promise<readonly ModelMessage[]>;
  /** The turn's calls, in their order, with their outputs as far as they are stored. */
  readonly calls: () => Promise<readonly CallOutput[]>;
}

/** The output of a call. Undefined as long as it has none. */
export interface CallOutput {
  readonly toolCallId: string;
  readonly output: unknown;
}

const WITHDRAWN = "The turn was withdrawn.";
const BLOCKED = "The call was blocked, and nothing was done.";
const HOOK_FAILED = "The tool failed. Its log says why.";
/** Most runs of a call whose tool may run again. A tool that ends its process each time would run for ever. */
const MOST_RUNS = 12;

type CallResult =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly errorText: string };

interface RunningCall {
  readonly context: ToolCallContext | undefined;
  /** Lets the next call of the step begin. */
  release: () => void;
  /** Whether the listeners of events know of it. */
  hasBegun?: true;
  /** Keeps the result of a call that only reads. */
  keep?: (output: unknown) => void;
  beganAt?: number;
  endedAt?: number;
  /** The value that the tool threw. */
  thrown?: { readonly error: unknown };
}

/**
 * The one seam around tools. Every call passes it before and after.
 *
 * - Read-only calls of a step run side by side, at most four at once. All others run one after the other, in the order
 *   of the calls; neighbours whose tools allow it run side by side. A call's time begins with its own `execute`.
 * - A read-only action may be answered with the result of an equal call of its turn: see `ReadCalls`.
 * - A call with an effect begins when no more of the person's message is expected, and is stored before it begins.
 *   After a crash, a call that had begun is reported as interrupted, unless its tool may run again. A call that had not
 *   begun runs.
 * - The bot's `beforeToolCall` decides last, right before the call.
 */
export class ToolCalls {
  readonly #options: ToolCallsParts;
  readonly #running = new Map<string, RunningCall>();
  /** When the calls with an effect that have begun end, by operation: all, and those beside which no other runs. */
  readonly #ends = new Map<string, { readonly all: Promise<void>; readonly alone: Promise<void> }>();
  readonly #reads: ReadCalls;
  /** Outputs of the newest step by operation. The harness stores an output after the next call may have begun. */
  readonly #newest = new Map<string, { readonly step: number; readonly outputs: Map<string, unknown> }>();

  constructor(options: ToolCallsParts) {
    this.#options = options;
    this.#reads = new ReadCalls(options.clock);
  }

  /** Decides whether a call runs, and with which input. Called in the order of a step's calls. */
  async before(call: ToolCall, around: CallSurroundings): Promise<ThinkToolCallDecision> {
    const { attempt, operationId, toolCallId, toolName } = call;
    const { tool } = around;
    const readOnly = isReadOnly(tool);
    const { promise: end, resolve: release } = Promise.withResolvers<void>();
    const isBeside = runsBeside(tool);
    const { all, alone } = this.#ends.get(operationId) ?? { all: undefined, alone: undefined };
    const before = isBeside ? alone : all;
    if (!readOnly) {
      const ends = all === undefined ? end : all.then(() => end);
      this.#ends.set(operationId, { all: ends, alone: isBeside ? (alone ?? Promise.resolve()) : ends });
    }
    const running: RunningCall = { context: undefined, release };
    this.#running.set(toolCallId, running);
    try {
      if (readOnly) running.release = await this.#reads.begin(operationId, around.signal);
      else if (before !== undefined) await untilAborted(around.signal, before, () => new Error(WITHDRAWN));
    } catch {
      return { action: "block", reason: WITHDRAWN };
    }
    if (
      attempt > 1 &&
      !mayRerun(tool) &&
      (readOnly || this.#options.calls().hasBegun(operationId, toolCallId))
    )
      return { action: "block", reason: INTERRUPTED };
    if (attempt > MOST_RUNS) return { action: "block", reason: INTERRUPTED };
    if (!readOnly && (await this.#options.turns().beforeTool(operationId)) === "block")
      return { action: "block", reason: WITHDRAWN };
    const decision = await this.#ask(call, around, running);
    if (decision.action !== "run") return decision;
    const filled = await fillInputOf(tool)?.(decision.input ?? call.input, () => this.#outputs(call, around));
    if (filled !== undefined && "output" in filled) return { action: "substitute", output: filled.output };
    const run = filled === undefined ? decision : { ...decision, input: filled.input };
    if (readOnly && mayRepeatResult(tool)) {
      const read = [operationId, toolName, run.input ?? call.input] as const;
      const known = this.#reads.known(...read);
      if (known !== undefined) return { action: "substitute", output: known.output };
      running.keep = this.#reads.keeper(...read);
    }
    if (!readOnly) {
      // The person may have written while the hook ran.
      if (
        this.#options.hooks.has("beforeToolCall") &&
        (await this.#options.turns().beforeTool(operationId)) === "block"
      )
        return { action: "block", reason: WITHDRAWN };
      this.#options.calls().begin(operationId, toolCallId);
      this.#reads.effect(operationId);
    }
    const input = run.input ?? call.input;
    this.#options.events.emit(operationId, { kind: "tool-begun", callId: toolCallId, tool: toolName, input });
    running.hasBegun = true;
    return run;
  }

  /** Logs a call that never reaches its tool: the bot has no such tool, or the input does not fit its schema. */
  refused(operationId: string, toolName: string, tools: ToolSet = {}): void {
    const isKnown = Object.hasOwn(tools, toolName);
    logRefusedCall(this.#options.logOf(operationId), toolName, isKnown ? "input-invalid" : "tool-unknown");
  }

  /** Starts the time of a call whose `execute` begins. */
  began(toolCallId: string): void {
    const running = this.#running.get(toolCallId);
    if (running !== undefined) running.beganAt = this.#options.clock.now();
  }

  ended(toolCallId: string, thrown?: { readonly error: unknown }): void {
    const running = this.#running.get(toolCallId);
    if (running === undefined) return;
    running.endedAt = this.#options.clock.now();
    if (thrown !== undefined) running.thrown = thrown;
  }

  /** Reports the result of a call. */
  async after(call: ToolCall, result: CallResult, around: CallSurroundings): Promise<void> {
    const running = this.#running.get(call.toolCallId);
    this.#running.delete(call.toolCallId);
    if (result.ok) this.#keepOutput(call, around.stepNumber, result.output);
    if (!isReadOnly(around.tool)) this.#reads.effect(call.operationId);
    else if (result.ok && !isFailed(result.output)) running?.keep?.(result.output);
    if (running?.hasBegun === true) this.#tellEnded(call, result);
    try {
      const { hooks } = this.#options;
      if (!hooks.has("afterToolCall")) return;
      const context = running?.context ?? (await this.#contextOf(call, around));
      const { beganAt, endedAt = this.#options.clock.now(), thrown } = running ?? {};
      const end: ToolCallEnd = result.ok
        ? { success: true, output: result.output }
        : { success: false, error: thrown === undefined ? new Error(result.errorText) : thrown.error };
      const durationMs = beganAt === undefined ? 0 : endedAt - beganAt;
      const ended = { ...context, input: call.input, durationMs, ...end } as ToolCallResultContext;
      await hooks.run(call.operationId, "afterToolCall", ended);
    } finally {
      running?.release();
    }
  }

  /** Forgets an operation that runs no more calls. */
  forget(operationId: string): void {
    this.#ends.delete(operationId);
    this.#reads.forget(operationId);
    this.#newest.delete(operationId);
  }

  #tellEnded({ operationId, toolCallId, toolName }: ToolCall, result: CallResult): void {
    const output = result.ok ? result.output : result.errorText;
    const outcome = result.ok ? outcomeOf(output) : "failed";
    const ended = { callId: toolCallId, tool: toolName, outcome, output };
    this.#options.events.emit(operationId, { kind: "tool-ended", ...ended });
  }

  #keepOutput({ operationId, toolCallId }: ToolCall, step: number, output: unknown): void {
    const known = this.#newest.get(operationId);
    const newest = known?.step === step ? known : { step, outputs: new Map<string, unknown>() };
    newest.outputs.set(toolCallId, output);
    this.#newest.set(operationId, newest);
  }

  /** Returns the outputs of the turn's calls, in their order. */
  async #outputs(
    { operationId }: ToolCall,
    { calls, stepNumber }: CallSurroundings,
  ): Promise<readonly unknown[]> {
    const newest = this.#newest.get(operationId);
    // An id may be that of another call in an earlier step.
    const outputs = newest?.step === stepNumber ? newest.outputs : undefined;
    return (await calls()).map(({ output, toolCallId }) => output ?? outputs?.get(toolCallId));
  }

  async #ask(call: ToolCall, around: CallSurroundings, running: RunningCall): Promise<ThinkToolCallDecision> {
    const { hooks } = this.#options;
    if (!hooks.has("beforeToolCall")) return { action: "run" };
    const context = await this.#contextOf(call, around);
    Object.assign(running, { context });
    const asked = await hooks.run(call.operationId, "beforeToolCall", context);
    if (!asked.ok) return { action: "block", reason: HOOK_FAILED };
    const decision = asked.value;
    switch (decision?.action) {
      case "block":
        return { action: "substitute", output: decision.reason ?? BLOCKED };
      case "substitute":
        return { action: "substitute", output: decision.output };
      case "allow":
        return decision.input === undefined ? { action: "run" } : { action: "run", input: decision.input };
      case undefined:
        return { action: "run" };
    }
  }

  async #contextOf(call: ToolCall, around: CallSurroundings): Promise<ToolCallContext> {
    const { attempt, input, operationId, toolCallId, toolName } = call;
    return {
      type: "tool-call",
      toolCallId,
      toolName,
      input,
      ...(around.tool?.type === "dynamic" && { dynamic: true }),
      stepNumber: around.stepNumber,
      attempt,
      messages: await around.messages(),
      abortSignal: around.signal,
      turn: this.#options.hooks.turnInfo(operationId),
    };
  }
}

/** The outcome of a call with an output: that of an action says whether it failed, or asks a person. */
export function outcomeOf(output: unknown): CallOutcome {
  if (!isRecord(output)) return "done";
  return "error" in output ? "failed" : "waiting" in output ? "waiting" : "done";
}

/** The failure of an action, and its question to a person, are outputs for the model. They must not be repeated. */
function isFailed(output: unknown): boolean {
  return outcomeOf(output) !== "done";
}
