import type { UIMessageChunk } from "ai";
import { ReplyText } from "./reply-text.ts";
import type { ReplyTextSink } from "./reply-text.ts";
import type { SessionMessages } from "./model/session-messages.ts";

/** The texts of running replies. Each goes to the sink that follows its operation. */
export class ReplyTexts {
  readonly #messages: Pick<SessionMessages, "answer">;
  readonly #texts = new Map<string, ReplyText>();

  constructor(messages: Pick<SessionMessages, "answer">) {
    this.#messages = messages;
  }

  /** Sends the text of an operation to `sink`, unless a sink follows it already: the stored text, then `chunks`. */
  async follow(
    operationId: string,
    session: string,
    sink: ReplyTextSink,
    chunks: readonly UIMessageChunk[] = [],
  ): Promise<void> {
    if (this.#texts.has(operationId)) return;
    const stored = await this.#messages.answer(operationId, session);
    if (this.#texts.has(operationId)) return;
    const text = new ReplyText(sink, stored?.parts);
    this.#texts.set(operationId, text);
    for (const chunk of chunks) text.onChunk(chunk);
  }

  /** Returns the text of an operation. Undefined if no sink follows it. */
  of(operationId: string): ReplyText | undefined {
    return this.#texts.get(operationId);
  }

  forget(operationId: string): void {
    this.#texts.delete(operationId);
  }
}
