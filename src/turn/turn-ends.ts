import type { UIMessage } from "ai";
import { errorCode } from "../core/errors.ts";
import type { ChatErrorContext, ChatResponseResult } from "./hooks.ts";
import type { TurnHooks } from "./turn-hooks.ts";

export interface TurnEndsOptions {
  readonly hooks: TurnHooks;
  readonly answer: (operationId: string, session: string) => Promise<UIMessage | undefined>;
  readonly outcome: (
    operationId: string,
    session: string,
  ) => Promise<{ readonly kind: string; readonly reason?: string | undefined }>;
}

/** How a turn ended, for its hook. */
export type ResponseStatus = ChatResponseResult["status"];

/** Errors of turns whose hook has not been told are kept for so many turns. */
const MOST_ERRORS = 32;

/** Tells the bot's hooks that turns have failed, and have ended. */
export class TurnEnds {
  readonly #options: TurnEndsOptions;
  /** What `onChatError` made of the error of each failed turn. */
  readonly #errors = new Map<string, string>();

  constructor(options: TurnEndsOptions) {
    this.#options = options;
  }

  /** A turn has failed. The hook hears of it once. */
  async failed(operationId: string, error: unknown, stage: ChatErrorContext["stage"]): Promise<void> {
    const { hooks } = this.#options;
    if (this.#errors.has(operationId)) return;
    this.#keep(operationId, wordsOf(error));
    if (!hooks.has("onChatError")) return;
    const asked = await hooks.run(operationId, "onChatError", error, {
      stage,
      requestId: operationId,
      messagesPersisted: true,
      ...(errorCode(error) === "context-overflow" && { classification: "context_overflow" }),
      turn: hooks.turnInfo(operationId),
    });
    if (asked.ok && asked.value !== undefined) this.#keep(operationId, wordsOf(asked.value));
  }

  /** An operation has ended. One that failed outside of its model calls is told now. */
  async settled(operationId: string, reason: string | undefined): Promise<void> {
    if (reason === undefined || isAborted(reason)) return;
    await this.failed(operationId, new Error(reason), "prepare");
  }

  /** Whether the bot wants to know how turns end. */
  get isAwaited(): boolean {
    return this.#options.hooks.has("onChatResponse");
  }

  /** A turn has ended, and its answer is stored. Resolves when the hook has returned, or failed. */
  async tell(operationId: string, session: string, status: ResponseStatus): Promise<void> {
    const { answer, hooks, outcome } = this.#options;
    const { reason } = await outcome(operationId, session);
    const error = status === "error" ? (this.#errors.get(operationId) ?? reason) : undefined;
    await hooks.run(operationId, "onChatResponse", {
      message: (await answer(operationId, session)) ?? { id: operationId, role: "assistant", parts: [] },
      requestId: operationId,
      continuation: false,
      status,
      ...(error !== undefined && { error }),
      turn: hooks.turnInfo(operationId),
    });
    this.#errors.delete(operationId);
  }

  #keep(operationId: string, words: string): void {
    this.#errors.set(operationId, words);
    const [oldest] = this.#errors.keys();
    if (oldest !== undefined && this.#errors.size > MOST_ERRORS) this.#errors.delete(oldest);
  }
}

/** Whether an operation ended because somebody wanted it to. */
export function isAborted(reason: string | undefined): boolean {
  return reason === "aborted" || reason === "withdrawn";
}

function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : "unknown";
}
