import type { Database } from "../../core/store/database.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { postingOf } from "../replies/send-notice.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import type { OpenQuestions } from "./open-questions.ts";

export interface QuestionMessagesOptions {
  readonly database: Database;
  readonly delivery: Pick<Delivery, "send">;
  /** @default nobody is asked anything */
  readonly questions?: Pick<OpenQuestions, "taken"> | undefined;
}

/** Messages of people who are asked something. Those that are not for the model end here. */
export class QuestionMessages {
  readonly #options: QuestionMessagesOptions;
  readonly #outcomes: EventOutcomes;

  constructor(options: QuestionMessagesOptions, outcomes: EventOutcomes) {
    this.#options = options;
    this.#outcomes = outcomes;
  }

  /**
   * Takes a message about a question. Returns `false` if the model must answer it, and a promise if that is not known
   * before the promise resolves.
   */
  take(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): boolean | Promise<void> {
    const { database, delivery, questions } = this.#options;
    const taken = questions?.taken?.(event);
    if (taken === undefined) return false;
    if ("until" in taken) return taken.until;
    const { hint, isForModel } = taken;
    // Together, so that an answer counts once, and a person is told once.
    database.transaction(() => {
      taken.store();
      if (hint !== undefined) {
        const { replyTo, text } = hint;
        const start = { id: `hint:${row.seq}`, ...postingOf(event, definition) };
        delivery.send({ ...start, ...(replyTo !== undefined && { replyTo }) }, text);
      }
      if (!isForModel)
        this.#outcomes.end(row, hint === undefined ? "answered a question" : "answered with a hint");
    });
    return !isForModel;
  }
}
