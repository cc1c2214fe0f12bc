import { parseCardToken } from "../../core/chat/card-token.ts";
import type { CardClaim } from "../../core/chat/gate.ts";
import type { MessengerEvent, MessengerMessage } from "../../core/chat/messenger-event.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import { conversationNameOf } from "../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { addressOf } from "../replies/address-of.ts";
import type { BareWords } from "./bare-words.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import { Presses } from "./presses.ts";
import type { PressesParts } from "./presses.ts";

interface CardEventsParts extends PressesParts {
  readonly words: BareWords;
}

/** A message that is only a number may be the answer to a numbered card. */
const NUMBER = /^\s*(\d{1,3})\s*[.)]?\s*$/;

/**
 * Routes events about cards to the conversation that posted the card.
 *
 * 1. A press arrives at the gate of its chat, which knows the conversation by the token. `conversation` is not asked.
 * 2. A message that quotes one of the bot's messages, or is a bare number, is offered to the gate once, and so is any
 *    message of a private chat whose gate is here. If it answers a card, only the conversation of that card gets it. The root gets nothing but numbers and answers to its own
 *    questions, unless it is the conversation.
 * 3. An event is handed over, under the same key, before its row here ends. A crash between the two repeats the
 *    handover, and the other object recognizes the key.
 */
export class CardEvents {
  readonly #options: CardEventsParts;
  readonly #outcomes: EventOutcomes;
  readonly #presses: Presses;

  constructor(options: CardEventsParts, outcomes: EventOutcomes) {
    this.#options = options;
    this.#outcomes = outcomes;
    this.#presses = new Presses(options, outcomes);
  }

  /** Whether the handler of a press is running, beside all other events. */
  isRunning(row: InboxRow): boolean {
    return this.#presses.isRunning(row);
  }

  /** Forgets an event that is given up. */
  forget(row: InboxRow): void {
    this.#presses.forget(row);
  }

  /** Takes an event that belongs to a card. Returns `false` if the event must be handled like any other. */
  async take(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<boolean> {
    if (isCardPress(event)) {
      await this.#takePress(row, event, definition);
      return true;
    }
    if (this.#presses.hasBegunBefore(row)) {
      await this.#presses.begunBefore(row, event, definition);
      return true;
    }
    const decided = row.incoming.claim;
    const claim = decided ?? (await this.#claimOf(event));
    if (claim === undefined) return false;
    const isQuote = claim.option === undefined && claim.isBareWord !== true;
    if (claim.speaker !== this.#options.gates.speaker) {
      // A root that sends cards to many chats has no conversation with any of them (I11), but may ask there.
      const isOfRoot = conversationNameOf(claim.speaker) === undefined;
      if (decided === undefined) {
        if (isQuote && isOfRoot && claim.asksForQuote !== true) return false;
        this.#outcomes.claimed(row, claim);
      }
      await this.#handOver(row, claim);
      return true;
    }
    if (isQuote && !this.#presses.takesReply(event, claim.key)) return false;
    // A person who may not use the bot is refused as with any other message: at most once, and not in a group.
    if (!(await this.#options.admission.mayUse(event, definition))) return false;
    if (claim.isBareWord === true) this.#options.words.claimed(row, event, definition, claim);
    else if (claim.option === undefined) await this.#presses.replied(row, event, definition, claim.key);
    else await this.#presses.typed(row, event, definition, claim.key, claim.option);
    return true;
  }

  async #takePress(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { cards, gates } = this.#options;
    const token = parseCardToken(event.action?.data ?? "");
    const address = addressOf(event);
    if (token !== undefined && cards.find(token.key, address) === undefined && gates.isGate(address)) {
      const { chatId, messengerId } = address;
      const owner = await gates.gateOf(address).findCard({ messengerId, chatId, key: token.key });
      if (owner !== undefined && owner.speaker !== gates.speaker) {
        await this.#handOver(row, { ...owner, key: token.key });
        return;
      }
    }
    await this.#presses.pressed(row, event, definition);
  }

  async #handOver(row: InboxRow, claim: CardClaim): Promise<void> {
    await this.#options.root.handOver(claim.speaker, row.messengerId, { ...row.incoming, claim });
    this.#outcomes.end(row, "passed on to the conversation of its card");
  }

  /** Returns the card that a message answers, if it looks like an answer to one. */
  async #claimOf(event: MessengerEvent): Promise<CardClaim | undefined> {
    const { message } = event;
    const { gates, messengers } = this.#options;
    const address = addressOf(event);
    const isNearby = (): boolean => address.isDirectMessage && isNewMessage(event) && gates.isGate(address);
    if (message === undefined || !(mayAnswerCard(event) || isNearby())) return undefined;
    const { beginsThread, isMention, quoted, sentAt } = message;
    const number = numberOf(message);
    const { chatId, messengerId, threadId } = address;
    const { numbersThreads = false, probing } = messengers.surface(messengerId);
    return gates.gateOf(address).claimMessage({
      messengerId,
      chatId,
      threadId,
      messageId: message.id,
      sentAt,
      // The later message has the higher id.
      isNumbered: probing !== undefined,
      ...(numbersThreads && { isNumberedInThread: true }),
      ...(quoted?.isFromBot === true && { quotedId: quoted.id }),
      ...(number !== undefined && { number }),
      ...(beginsThread === true && isMention && { beginsThread }),
    });
  }
}

/** Whether the event is a press of a card's button. */
export function isCardPress({ action, kind }: MessengerEvent): boolean {
  return kind === "action" && parseCardToken(action?.data ?? "") !== undefined;
}

/** Whether a message looks like an answer to a card: it quotes the bot, or is only a number. */
export function mayAnswerCard(event: MessengerEvent): boolean {
  const { message } = event;
  if (message === undefined || !isNewMessage(event)) return false;
  return message.quoted?.isFromBot === true || numberOf(message) !== undefined;
}

/** Whether the event is a new message of a person that is no command. */
function isNewMessage({ author, kind, message }: MessengerEvent): boolean {
  const isNew = kind === "direct-message" || kind === "mention" || kind === "message";
  return isNew && author?.isBot !== true && message?.command === undefined;
}

/** The caption of a file is no answer: the file would be lost. */
function numberOf({ attachments, text, textToBot = text }: MessengerMessage): number | undefined {
  if (attachments.length > 0) return undefined;
  const [, digits] = NUMBER.exec(textToBot) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
