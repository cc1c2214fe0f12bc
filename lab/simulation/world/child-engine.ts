import type { ModelMessage, UIMessage } from "ai";
import { isWaitingResult } from "../../../src/actions/declare/action-errors.ts";
import type { ObjectHost } from "../../../src/agent/object-host.ts";
import { inTurnContext } from "../../../src/core/turn/turn-context.ts";
import { ReplyText } from "../../../src/turn/reply-text.ts";
import type { ReplyTextSink } from "../../../src/turn/reply-text.ts";
import type { TurnOutcome } from "../../../src/turn/turn-engine-options.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { TurnOperations } from "../../../src/turn/tools/turn-operations.ts";
import type { Life } from "../machine/life.ts";
import { CHILD_TOKENS } from "../oracle/contract.ts";
import type { ChildWatch, PlannedChild } from "../oracle/child-watch.ts";
import { textOfQuestion } from "../oracle/stored-message.ts";

/** One turn of an agent as its engine stores it. It survives the process. */
export interface ChildOperation {
  readonly id: string;
  /** The number of the turn whose call has given the task. */
  readonly task: number;
  status: "running" | "done" | "aborted";
  /** The place of its next call. */
  next: number;
  text: string;
}

export type ChildOperations = Map<string, ChildOperation>;

export interface ChildEngineOptions {
  readonly life: Life;
  readonly operations: ChildOperations;
  readonly watch: ChildWatch;
  readonly object: ObjectHost;
}

const THINKING_MS = 150;

/**
 * The turn engine of an agent that works for others, with a scripted model: it makes the planned calls one after the other,
 * and says then that it is done. The turn about an outcome goes on behind its call.
 */
export class ChildEngine implements TurnOperations {
  readonly events: TurnEvents;
  /** No hook waits for the end of turns. */
  readonly ends: TurnOperations["ends"] = { isAwaited: false, tell: () => Promise.resolve() };
  readonly #options: ChildEngineOptions;
  readonly #texts = new Map<string, ReplyText>();
  readonly #running = new Set<string>();
  readonly #stops = new Map<string, AbortController>();

  constructor(options: ChildEngineOptions) {
    this.#options = options;
    this.events = new TurnEvents(options.life.clock);
  }

  async start(
    id: string,
    session: string,
    [message]: readonly UIMessage[],
    sink: ReplyTextSink,
  ): Promise<void> {
    if (message === undefined) throw new Error("A turn was begun without a question");
    const { life, operations } = this.#options;
    await this.follow(id, session, sink);
    if (!operations.has(id)) {
      const text = textOfQuestion(message);
      const [, of, place] = /"effect":\s*"task(\d+)x(\d+)"/.exec(text) ?? [];
      const [, first] = /"effect":\s*"task(\d+)"/.exec(text) ?? [];
      const task = Number(of ?? first);
      const isRefused = /^Decision: (?!approved)/im.test(text);
      const next = isRefused ? Infinity : place === undefined ? 0 : Number(place) + 1;
      const operation: ChildOperation = { id, task, status: "running", next, text: "" };
      life.write("child operation", () => operations.set(id, operation));
    }
    this.#run(id);
  }

  async follow(id: string, _session: string, sink: ReplyTextSink): Promise<void> {
    if (!this.#texts.has(id)) this.#texts.set(id, new ReplyText(sink, []));
  }

  async resumeAll(): Promise<void> {
    for (const { id, status } of this.#options.operations.values()) if (status === "running") this.#run(id);
  }

  #run(id: string): void {
    const { life, operations } = this.#options;
    const operation = operations.get(id);
    if (operation?.status !== "running" || this.#running.has(id)) return;
    this.#running.add(id);
    void life.guard(() => this.#work(operation));
  }

  async #work(operation: ChildOperation): Promise<void> {
    const { life, object, watch } = this.#options;
    const { id, task } = operation;
    const plan = watch.planOf(task);
    if (plan === undefined) throw new Error(`Nobody has planned task${task}.`);
    while (operation.next < plan.asks.length) {
      const place = operation.next;
      await this.#rest(THINKING_MS);
      if (!this.#isAtWork(operation)) return;
      const callId = String(place);
      object.thread.own.calls.begin(id, callId);
      const output = await this.#call(operation, plan, place);
      if (!this.#isAtWork(operation)) return;
      if (isWaitingResult(output) || object.thread.own.calls.isWaiting(id, callId)) {
        object.thread.own.calls.endHere(id, "parking");
        return this.#settle(operation, "aborted", "");
      }
      life.write("child step", () => (operation.next = place + 1));
    }
    await this.#rest(THINKING_MS);
    if (!this.#isAtWork(operation)) return;
    const text = watch.answerOf(task);
    this.#texts.get(id)?.onChunk({ type: "text-delta", id: "0", delta: text });
    const usage = { input: CHILD_TOKENS.input, output: CHILD_TOKENS.output };
    this.events.emit(id, {
      kind: "model-ended",
      provider: "sim",
      model: "child",
      code: undefined,
      usage,
      cost: 0,
    });
    this.#settle(operation, "done", text);
  }

  /** Calls an action as the product offers it to the model. */
  #call({ id, task }: ChildOperation, plan: PlannedChild, place: number): Promise<unknown> {
    const { life, object } = this.#options;
    const stop = new AbortController();
    this.#stops.set(id, stop);
    return inTurnContext(object.thread.own.info(id), undefined, async () => {
      const tools = await object.actions.tools({ clock: life.clock, log: object.log });
      const options = {
        toolCallId: String(place),
        messages: [],
        abortSignal: stop.signal,
        context: undefined,
      };
      const name = `${plan.asks[place] === true ? "ask" : "do"}_${plan.token}`;
      return tools[name]?.execute?.({ effect: `task${task}x${place}` }, options);
    });
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.life.clock.setTimeout(resolve, ms));
  }

  #isAtWork({ id, status }: ChildOperation): boolean {
    return !this.#options.life.isDead && status === "running" && this.#running.has(id);
  }

  #settle(operation: ChildOperation, status: "done" | "aborted", text: string): void {
    const { life, object } = this.#options;
    life.write("child settle", () => {
      operation.status = status;
      operation.text = text;
    });
    this.#texts.delete(operation.id);
    this.#running.delete(operation.id);
    if (!life.isDead) object.thread.poke();
  }

  async abort(id: string): Promise<void> {
    const operation = this.#options.operations.get(id);
    if (operation?.status !== "running") return;
    this.#running.delete(id);
    this.#stops.get(id)?.abort();
    this.#settle(operation, "aborted", "");
  }

  async outcome(id: string): Promise<TurnOutcome> {
    const operation = this.#options.operations.get(id);
    if (operation === undefined) return { kind: "unknown" };
    switch (operation.status) {
      case "running":
        return { kind: "open" };
      case "done":
        return { kind: "done", text: operation.text };
      case "aborted":
        return { kind: "stopped", text: operation.text };
      default:
        return operation.status satisfies never;
    }
  }

  ended(id: string): Promise<TurnOutcome> {
    return this.outcome(id);
  }

  textSoFar(id: string): string {
    return this.#texts.get(id)?.text ?? "";
  }

  isRepeating(): boolean {
    return false;
  }

  async forget(): Promise<void> {
    // The scripted model reads no transcript.
  }

  async messagesOf(): Promise<readonly ModelMessage[]> {
    return [];
  }

  /** No agent of the simulation has memory. */
  search(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  observe(): () => void {
    return () => undefined;
  }

  sendsReasoning(): boolean {
    return false;
  }
}
