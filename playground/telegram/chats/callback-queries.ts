import { badRequest } from "../bot-api/bot-api-error.ts";
import type { Clock } from "../clock.ts";

export interface CallbackAnswer {
  readonly queryId: string;
  readonly chatId: number;
  readonly userId: number;
  readonly messageId: number;
  readonly pressedAt: number;
  /** In milliseconds. Undefined while the button still shows progress. */
  readonly answeredAt?: number;
  readonly text?: string;
  readonly showAlert?: boolean;
  readonly url?: string;
}

/** Presses of buttons, and the bot's answer to each. */
export class CallbackQueries {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #queries = new Map<string, CallbackAnswer>();
  #count = 0;
  onChange: () => void = () => undefined;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  press(query: Pick<CallbackAnswer, "chatId" | "userId" | "messageId">): string {
    this.#count += 1;
    const queryId = `${4_000_000_000_000 + this.#clock.now()}${String(this.#count).padStart(6, "0")}`;
    this.#queries.set(queryId, { queryId, ...query, pressedAt: this.#clock.now() });
    this.onChange();
    return queryId;
  }

  find(queryId: string): CallbackAnswer | undefined {
    return this.#queries.get(queryId);
  }

  /**
   * Answers a press.
   * @throws {BotApiError} when the query is unknown, answered already, or too old
   */
  answer(queryId: string, answer: Pick<CallbackAnswer, "text" | "showAlert" | "url">): void {
    const query = this.#queries.get(queryId);
    const now = this.#clock.now();
    if (query === undefined || query.answeredAt !== undefined || now - query.pressedAt > this.#timeoutMs) {
      throw badRequest("query is too old and response timeout expired or query ID is invalid");
    }
    this.#queries.set(queryId, { ...query, ...answer, answeredAt: now });
    this.onChange();
  }

  list(): readonly CallbackAnswer[] {
    return [...this.#queries.values()];
  }
}
