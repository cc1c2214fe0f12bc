import { wordForm } from "../../core/chat/degrade.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { Deps, Timer } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerAction, MessengerEvent } from "../../core/chat/messenger-event.ts";
import { escapeMarkdown, plainMarkdown } from "../../core/message/plain-markdown.ts";
import type { ActionNotice, Press } from "../../core/chat/surface.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { addressOf } from "../replies/address-of.ts";
import type { StoredCard } from "../replies/card-store.ts";
import { sendNotice } from "../replies/send-notice.ts";

export interface PressAnswersOptions {
  readonly deps: Pick<Deps, "clock">;
  readonly log: Log;
  readonly delivery: Delivery;
  readonly messengers: Pick<DeclaredMessengers, "surface">;
}

/** An answer to a press. */
export interface PressNotice extends ActionNotice {
  /** False for an answer of the bot's own code, which may be meant for one person only. */
  readonly isForAll: boolean;
}

interface OpenPress {
  readonly row: InboxRow;
  readonly event: MessengerEvent;
  readonly definition: NormalizedMessengerDefinition;
  readonly card: StoredCard | undefined;
  timer: Timer;
  /** The answer that was given. */
  shown?: Promise<void>;
}

/**
 * A press is acknowledged after this time, even if nothing is decided about it. Clients show for about 15 s that they
 * wait.
 */
const ANSWER_WITHIN_MS = 10_000;

/** Returns a press as the surface needs it for the answer. */
export function pressOf(
  { author }: Pick<MessengerEvent, "author">,
  { id, messageId, token }: MessengerAction,
): Press {
  return {
    id,
    ...(messageId !== undefined && { messageId }),
    ...(token !== undefined && { token }),
    ...(author !== undefined && { userId: author.userId }),
  };
}

/**
 * Answers presses: each once in a process, and with nothing after 10 s if the platform waits for the answer, whatever
 * the bot's code does meanwhile.
 */
export class PressAnswers {
  readonly #options: PressAnswersOptions;
  readonly #open = new Map<number, OpenPress>();

  constructor(options: PressAnswersOptions) {
    this.#options = options;
  }

  /** Starts the time of a press. Does nothing for a press that is taken up again after a failure. */
  begin(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    card: StoredCard | undefined,
  ): void {
    if (this.#open.has(row.seq)) return;
    const press: OpenPress = { row, event, definition, card, timer: undefined };
    this.#open.set(row.seq, press);
    // A person who wrote a number does not wait for a button.
    if (event.action === undefined || this.#privateWords(event) !== "note") return;
    press.timer = this.#options.deps.clock.setTimeout(() => void this.give(row, undefined), ANSWER_WITHIN_MS);
  }

  /** Gives the answer, unless there was one before. Returns when the answer is shown, or has failed. Never throws. */
  async give(row: InboxRow, notice: PressNotice | undefined): Promise<void> {
    const press = this.#open.get(row.seq);
    if (press === undefined) return;
    if (press.shown === undefined) {
      this.#options.deps.clock.clearTimeout(press.timer);
      press.shown = this.#show(press, notice);
    } else if (notice !== undefined) {
      this.#options.log.info("press.answer-too-late", eventFields(press.event.messengerId, press.event));
    }
    await press.shown;
  }

  /** Forgets a press that has ended. One that is not answered yet is acknowledged. */
  end(row: InboxRow): void {
    void this.give(row, undefined);
    this.#open.delete(row.seq);
  }

  async #show(press: OpenPress, notice: PressNotice | undefined): Promise<void> {
    try {
      await this.#answer(press, notice);
    } catch (error) {
      // A message with the answer cannot be stored.
      const { event } = press;
      const fields = eventFields(event.messengerId, event);
      this.#options.log.warn("press.not-answered", { ...fields, code: failureCode(error) });
    }
  }

  /**
   * Shows the answer to the person. A person who wrote a number gets it as a message, and so does a person in a private
   * chat on a platform without notes.
   *
   * In a group whose platform has no private words, or refuses this one, only a warning is said, to the person by name,
   * and at most once for each card and person. The card itself shows all else.
   */
  async #answer(press: OpenPress, notice: PressNotice | undefined): Promise<void> {
    const { definition, event, row } = press;
    const { delivery } = this.#options;
    const isNote = this.#privateWords(event) === "note";
    const form = wordForm(this.#privateWords(event), event.thread.isDirectMessage);
    const isMessage = event.action === undefined || form === "message";
    const { text = "", alert, isForAll = false } = notice ?? {};
    if (event.action !== undefined) {
      const shown =
        isMessage || notice === undefined ? undefined : { text, ...(alert !== undefined && { alert }) };
      const wasShown = await delivery.answerAction(addressOf(event), pressOf(event, event.action), shown);
      const isSaid = !isNote && !wasShown && alert === true && isForAll;
      const id = isSaid ? publicId(press) : undefined;
      if (id !== undefined) sendNotice(delivery, id, event, definition, addressed(event, text));
    }
    if (isMessage && notice !== undefined)
      sendNotice(delivery, `press:${row.seq}`, event, definition, escapeMarkdown(text));
  }

  #privateWords({ messengerId }: MessengerEvent) {
    return this.#options.messengers.surface(messengerId).capabilities.privateWords ?? "note";
  }
}

/** Returns the id of the one message for this card and person. Undefined if they are unknown. */
function publicId({ card, event: { action, author } }: OpenPress): string | undefined {
  const cardId = card?.id ?? action?.messageId;
  return cardId === undefined || author === undefined ? undefined : `press:${cardId}:${author.userId}`;
}

/** Says in a chat whom a text is for. */
function addressed({ author }: MessengerEvent, text: string): string {
  const name = author?.fullName || author?.userName;
  const words = escapeMarkdown(text);
  return name ? `${plainMarkdown(name)}: ${words}` : words;
}
