import { errorCode } from "../core/base/errors.ts";
import { isContinuation } from "../core/turn/turn-info.ts";
import type { ChatErrorClassification, ChatErrorContext, ChatResponseResult } from "./hooks.ts";
import type { SessionMessages } from "./model/session-messages.ts";
import type { TurnHooks } from "./turn-hooks.ts";
import type { TurnEngineOptions, TurnOutcome } from "./turn-engine-options.ts";

interface TurnEndsParts extends Pick<TurnEngineOptions, "attachmentsOf"> {
  readonly hooks: TurnHooks;
  readonly messages: SessionMessages;
  readonly outcome: (operationId: string, session: string) => Promise<TurnOutcome>;
}

/** The end of a turn, for its hook. */
export type ResponseStatus = ChatResponseResult["status"];

/** Number of turns whose errors are kept for a hook that has not run yet. */
const MOST_ERRORS = 32;

/** Calls the bot's hooks for failed and ended turns. */
export class TurnEnds {
  readonly #options: TurnEndsParts;
  /** The error of each failed turn, as `onChatError` returned it. */
  readonly #errors = new Map<string, string>();

  constructor(options: TurnEndsParts) {
    this.#options = options;
  }

  /** Calls `onChatError` for a failed turn, once. */
  async failed(
    operationId: string,
    error: unknown,
    stage: ChatErrorContext["stage"],
    named?: ChatErrorClassification,
  ): Promise<void> {
    const { hooks } = this.#options;
    if (this.#errors.has(operationId)) return;
    this.#keep(operationId, wordsOf(error));
    if (!hooks.has("onChatError")) return;
    const context = this.contextOf(operationId, error, stage, named);
    const asked = await hooks.run(operationId, "onChatError", error, context);
    if (asked.ok && asked.value !== undefined) this.#keep(operationId, wordsOf(asked.value));
  }

  contextOf(
    operationId: string,
    error: unknown,
    stage: ChatErrorContext["stage"],
    named?: ChatErrorClassification,
  ): ChatErrorContext {
    const isOverflow = named === "context_overflow" || errorCode(error) === "context-overflow";
    return {
      stage,
      requestId: operationId,
      messagesPersisted: true,
      ...(isOverflow && { classification: "context_overflow" }),
      turn: this.#options.hooks.turnInfo(operationId),
    };
  }

  /** Called when an operation has ended. Reports a failure outside of its model calls. */
  async settled(operationId: string, reason: string | undefined): Promise<void> {
    if (reason === undefined || isAborted(reason)) return;
    await this.failed(operationId, new Error(reason), "prepare");
  }

  /** Whether the bot has a hook for the end of turns. */
  get isAwaited(): boolean {
    return this.#options.hooks.has("onChatResponse");
  }

  /** Calls `onChatResponse` for a turn whose answer is stored. Resolves when the hook has returned or failed. */
  async tell(operationId: string, session: string, status: ResponseStatus): Promise<void> {
    const { attachmentsOf, hooks, messages, outcome } = this.#options;
    const ended = await outcome(operationId, session);
    const reason = ended.kind === "failed" ? ended.reason : undefined;
    const error = status === "error" ? (this.#errors.get(operationId) ?? reason) : undefined;
    const turn = hooks.turnInfo(operationId);
    await hooks.run(operationId, "onChatResponse", {
      message: (await messages.answer(operationId, session)) ?? {
        id: operationId,
        role: "assistant",
        parts: [],
      },
      requestId: operationId,
      continuation: isContinuation(turn),
      status,
      ...(error !== undefined && { error }),
      attachments: attachmentsOf?.(operationId) ?? [],
      turn,
    });
    this.#errors.delete(operationId);
  }

  #keep(operationId: string, words: string): void {
    this.#errors.set(operationId, words);
    const [oldest] = this.#errors.keys();
    if (oldest !== undefined && this.#errors.size > MOST_ERRORS) this.#errors.delete(oldest);
  }
}

/** Whether an operation ended because it was aborted. */
export function isAborted(reason: string | undefined): boolean {
  return reason === "aborted" || reason === "withdrawn";
}

function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : "unknown";
}
