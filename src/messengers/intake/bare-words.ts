import type { CardClaim } from "../../core/chat/gate.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { safeText } from "../declare/texts.ts";
import { addressOf } from "../replies/address-of.ts";
import { postingOf } from "../replies/send-notice.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import type { MessengerHint } from "./open-questions.ts";
import type { IntakeParts } from "./intake-parts.ts";

/** Ids of messages below a card, and of lists of cards. They say nothing that the model of the chat has said. */
const ASIDE = /^(?:approval|command|given-up|hint|mark|press|question|show|waiting):/;
const MOST_REPLIES = 50;

/**
 * Messages that are only a word of decision, such as "yes", and quote nothing. They decide nothing, and the model may not
 * know the question that they answer.
 *
 * 1. If the conversation of the chat has asked, and has said nothing since, the person is pointed at the card.
 * 2. If another conversation has asked in this chat (the approver's own chat), and the conversation of the chat has said
 *    nothing since, the word is handed over to that conversation, which points at its card.
 * 3. All other words are for the model.
 *
 * Only what was sent before the word counts, so a repetition after a crash comes to the same result.
 */
export class BareWords {
  readonly #options: IntakeParts;
  readonly #outcomes: EventOutcomes;

  constructor(options: IntakeParts, outcomes: EventOutcomes) {
    this.#options = options;
    this.#outcomes = outcomes;
  }

  /** Takes a message that is only a word for a card. Returns `false` if the model must answer the message. */
  async take(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<boolean> {
    const { gates, questions, root } = this.#options;
    if (questions?.isBareWord(event) !== true) return false;
    const own = questions.hint(event);
    const claim = own === undefined ? await this.#claimOf(row, event) : undefined;
    if (claim !== undefined && claim.speaker !== gates.speaker) {
      await root.handOver(claim.speaker, row.messengerId, { ...row.incoming, claim });
      this.#outcomes.end(row, "passed on to the conversation of its card");
      return true;
    }
    const hint = claim === undefined ? own : this.#hintAt(event, claim);
    if (hint === undefined) return false;
    this.#answer(row, event, definition, hint);
    return true;
  }

  /** Answers a word that another object has found to be about a card of this conversation. */
  claimed(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    claim: CardClaim,
  ): void {
    const stale = (): MessengerHint => ({
      text: safeText(definition.delivery, "staleActionResponseText", event, this.#options.log),
      replyTo: undefined,
    });
    this.#answer(row, event, definition, this.#hintAt(event, claim) ?? stale());
  }

  #hintAt(event: MessengerEvent, { key }: CardClaim): MessengerHint | undefined {
    const { cards, questions } = this.#options;
    const card = cards.find(key, addressOf(event));
    return card && questions?.hintAt(card.id, event);
  }

  #answer(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    { replyTo, text }: MessengerHint,
  ): void {
    const { database, delivery } = this.#options;
    const start = { id: `hint:${row.seq}`, ...postingOf(event, definition) };
    // Together, so that the person is told once.
    database.transaction(() => {
      delivery.send({ ...start, ...(replyTo !== undefined && { replyTo }) }, text);
      this.#outcomes.end(row, "answered with a hint");
    });
  }

  async #claimOf(row: InboxRow, event: MessengerEvent): Promise<CardClaim | undefined> {
    const { gates, messengers } = this.#options;
    const { message, messengerId } = event;
    if (message === undefined) return undefined;
    const address = addressOf(event);
    const { chatId, threadId } = address;
    const { numbersThreads = false, probing } = messengers.surface(messengerId);
    return gates.gateOf(address).claimMessage({
      messengerId,
      chatId,
      threadId,
      messageId: message.id,
      sentAt: message.sentAt,
      isNumbered: probing !== undefined,
      ...(numbersThreads && { isNumberedInThread: true }),
      wordSince: this.#saidAt(threadId, row.receivedAt),
    });
  }

  /** Returns the time at which this conversation last said something in a thread, before a moment. */
  #saidAt(inThread: string, before: number): number {
    const { delivery } = this.#options;
    return delivery
      .receipts({ limit: MOST_REPLIES })
      .filter(({ replyId, threadId }) => threadId === inThread && !ASIDE.test(replyId))
      .map(({ messages }) => messages.find(({ sentAt }) => sentAt !== undefined)?.sentAt ?? 0)
      .filter((sentAt) => sentAt <= before)
      .reduce((newest, sentAt) => Math.max(newest, sentAt), 0);
  }
}
