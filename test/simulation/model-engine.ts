import type { UIMessage } from "ai";
import { ReplyText } from "../../src/turn/reply-text.ts";
import type { ReplyTextSink } from "../../src/turn/reply-text.ts";
import type { TurnEngine, TurnOutcome } from "../../src/turn/turn-engine.ts";
import type { Life } from "./life.ts";
import { createScript } from "./model-script.ts";
import type { Script } from "./model-script.ts";
import type { Oracle } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Trace } from "./trace.ts";

/** One operation as the turn engine stores it: what of it survives the process. */
export interface StoredOperation {
  readonly id: string;
  readonly session: string;
  readonly script: Script;
  readonly questions: readonly string[];
  status: "running" | "done" | "failed" | "aborted";
  attempt: number;
  /** Attempts that the model itself spoiled. */
  failures: number;
  /** The text that is stored, which lags behind what was streamed. */
  text: string;
}

export type OperationStore = Map<string, StoredOperation>;

export interface ModelEngineOptions {
  readonly threadId: string;
  readonly life: Life;
  readonly operations: OperationStore;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly trace: Trace;
  readonly interruptedStep: "restart" | "continue";
  /** A number for a new operation, unique in the run. */
  readonly nextTurn: () => number;
  readonly onSettled: () => void;
}

/** Chunks between two durable states of a stream. */
const STORE_EVERY = 3;
const REST_MS = 300;

/**
 * The turn engine with a scripted model in place of the harness: durable operations, streaming, failures, resumption
 * after a crash. It keeps the contract of `TurnEngine` that the thread's runtime uses.
 */
export class ModelEngine implements Pick<
  TurnEngine,
  "start" | "follow" | "resumeAll" | "abort" | "outcome" | "textSoFar" | "forget"
> {
  readonly #options: ModelEngineOptions;
  readonly #texts = new Map<string, ReplyText>();
  /** Operations whose model is at work in this process, with the timer of their next chunk. */
  readonly #running = new Map<string, unknown>();

  constructor(options: ModelEngineOptions) {
    this.#options = options;
  }

  async start(operationId: string, session: string, message: UIMessage, sink: ReplyTextSink): Promise<void> {
    const { life, operations, oracle, threadId, random, nextTurn } = this.#options;
    await this.follow(operationId, session, sink);
    if (!operations.has(operationId)) {
      const questions = questionsOf(message);
      oracle.onTurn(threadId, operationId, questions, operations);
      const turn = nextTurn();
      const script = createScript(random.fork(`turn/${turn}`), turn, questions);
      const operation: StoredOperation = {
        id: operationId,
        session,
        script,
        questions,
        status: "running",
        attempt: 0,
        failures: 0,
        text: "",
      };
      life.write("operation", () => operations.set(operationId, operation));
    }
    this.#run(operationId, false);
  }

  async follow(operationId: string, _session: string, sink: ReplyTextSink): Promise<void> {
    if (this.#texts.has(operationId)) return;
    const text = this.#options.operations.get(operationId)?.text ?? "";
    this.#texts.set(operationId, new ReplyText(sink, partsOf(text)));
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
    await new Promise<void>((resolve) => void life.clock.setTimeout(resolve, random.int(0, 150)));
    life.write("abort", () => (operation.status = "aborted"));
    this.#texts.delete(operationId);
    this.#options.onSettled();
  }

  async outcome(operationId: string, _session: string): Promise<TurnOutcome> {
    const operation = this.#options.operations.get(operationId);
    if (operation === undefined) return { kind: "unknown" };
    const { text } = operation;
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

  async forget(): Promise<void> {
    // The scripted model reads no transcript.
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
    this.#later(operation, operation.script.firstTokenMs, operation.text.length, 0);
  }

  /** What was said of the interrupted call is void. */
  #startOver(operation: StoredOperation): void {
    this.#options.life.write("attempt", () => {
      operation.attempt += 1;
      operation.text = "";
    });
    this.#texts.get(operation.id)?.onMessage([]);
  }

  #later(operation: StoredOperation, delayMs: number, at: number, chunks: number): void {
    const { life } = this.#options;
    const step = (): void => void life.guard(() => this.#chunk(operation, at, chunks));
    this.#running.set(operation.id, life.clock.setTimeout(step, delayMs));
  }

  #chunk(operation: StoredOperation, at: number, chunks: number): void {
    const { life } = this.#options;
    const { script, attempt } = operation;
    const whole = script.text(attempt);
    const { failsAt } = script.attempts[operation.failures] ?? { failsAt: 1 };
    const end = failsAt >= 1 ? whole.length : Math.floor(whole.length * failsAt);
    if (at >= end) {
      this.#running.delete(operation.id);
      if (failsAt < 1) this.#fail(operation, whole.slice(0, end));
      else this.#settle(operation, "done", whole);
      return;
    }
    const next = Math.min(end, at + script.chunkLength);
    this.#texts.get(operation.id)?.onChunk({ type: "text-delta", id: "0", delta: whole.slice(at, next) });
    if (chunks % STORE_EVERY === STORE_EVERY - 1) {
      life.write("stream", () => (operation.text = whole.slice(0, next)));
    }
    this.#later(operation, script.paceMs, next, chunks + 1);
  }

  #fail(operation: StoredOperation, said: string): void {
    const isLast = operation.failures + 1 >= operation.script.attempts.length;
    operation.failures += 1;
    if (isLast) {
      this.#settle(operation, "failed", said);
      return;
    }
    this.#startOver(operation);
    this.#later(operation, REST_MS, 0, 0);
  }

  #settle(operation: StoredOperation, status: "done" | "failed", text: string): void {
    const { life, onSettled } = this.#options;
    life.write("settle", () => {
      operation.status = status;
      operation.text = text;
    });
    this.#texts.delete(operation.id);
    onSettled();
  }
}

function partsOf(text: string): UIMessage["parts"] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** The tokens of the messages that a turn answers. */
function questionsOf(message: UIMessage): readonly string[] {
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return text.match(/\b[mb]\d+\b/g) ?? [];
}
