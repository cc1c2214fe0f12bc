import type { Clock } from "../../src/core/base/deps.ts";
import type {
  CardClaim,
  CardOwner,
  CardQuestion,
  CardReport,
  ClaimQuestion,
} from "../../src/core/chat/gate.ts";
import type { Database } from "../../src/core/store/database.ts";
import { CardIndexStore } from "./card-index-store.ts";
import type { IndexedCard } from "./card-index-store.ts";
import { Sweep } from "../../src/core/store/sweep-store.ts";

/** Time for which a card without an answer to its post counts as visible. */
const UNANSWERED_MS = 10 * 60 * 1000;
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * The cards of a gate's chats. Finds the conversation that posted a card, and the card that a message answers.
 *
 * 1. A card is stored before it is sent, because its conversation names it in the request for the call.
 * 2. A card belongs to one chat. Its token is unknown in any other chat.
 * 3. A number answers the newest card of its thread that listens to numbers, and only if it was sent after that card and
 *    its last revision, because a revision may give the number another meaning. A number that begins a thread answers the
 *    newest such card of its chat.
 * 4. Any other message answers the newest card that asks for any message, and was announced before it to its thread. A
 *    card whose post has no answer yet counts as sent for a while.
 * 5. A word of decision is about the newest card of its thread that asked for one before it was written, unless the
 *    conversation of the chat has said something since.
 */
export class CardIndex {
  readonly #clock: Clock;
  readonly #store: CardIndexStore;
  readonly #sweep: Sweep;
  /** The cards that ask for any message: every message looks here. Undefined while the table was not read. */
  #listening: readonly IndexedCard[] | undefined;

  constructor(database: Database, clock: Clock) {
    this.#clock = clock;
    this.#store = new CardIndexStore(database);
    const old = { table: "gate_card_v1", since: "noted_at", keepMs: KEEP_MS };
    this.#sweep = new Sweep(database, clock, [old]);
  }

  note({ address, card, speaker }: CardReport): void {
    const { messengerId, chatId, threadId } = address;
    const next: IndexedCard = { ...card, messengerId, chatId, threadId, speaker };
    const known = this.#store.read(card.key);
    // A later report may overtake an earlier one.
    const isOlder = known !== undefined && known.revision > card.revision;
    if (isOlder || (known !== undefined && isSame(known, next))) return;
    this.#store.write(next, this.#clock.now());
    this.#listening = undefined;
    this.#sweep.run();
  }

  find({ messengerId, chatId, key }: CardQuestion): CardOwner | undefined {
    const card = this.#store.read(key);
    if (card?.messengerId !== messengerId || card.chatId !== chatId) return undefined;
    return { speaker: card.speaker };
  }

  claim(question: ClaimQuestion): CardClaim | undefined {
    const { beginsThread = false, number, quotedId, threadId, wordSince } = question;
    if (quotedId !== undefined) {
      const quoted = this.#store.withMessage(question, quotedId);
      if (quoted === undefined) return this.#heard(question);
      return claimOf(quoted, isAboutRevision(question, quoted) ? number : undefined);
    }
    if (wordSince !== undefined) {
      const asking = this.#store.asking(question, threadId).find((card) => isAfter(question, card));
      if (asking?.sentAt === undefined || asking.sentAt <= wordSince) return undefined;
      return { key: asking.key, speaker: asking.speaker, isBareWord: true };
    }
    if (number === undefined) return this.#heard(question);
    const newest = this.#store.numbered(question, beginsThread ? undefined : threadId);
    const isOption = newest !== undefined && number >= 1 && number <= newest.options;
    const isMeant = isOption && isAfter(question, newest) && isAboutRevision(question, newest);
    return isMeant ? claimOf(newest, number) : this.#heard(question);
  }

  /** Returns the card that asks for any message, if there is one. */
  #heard(question: ClaimQuestion): CardClaim | undefined {
    this.#listening ??= this.#store.listening();
    const isFor = ({ chatId, messengerId, threadId }: IndexedCard): boolean =>
      messengerId === question.messengerId && chatId === question.chatId && threadId === question.threadId;
    // Platforms tell whole seconds, and a secret must not be missed.
    const late = { ...question, sentAt: question.sentAt + 1_000 };
    // A post without an answer may be visible. One that never arrives must not keep the chat's messages for long.
    const since = this.#clock.now() - UNANSWERED_MS;
    // A card that cannot change is posted again, and asks from the first post on.
    const isHeard = (one: IndexedCard): boolean =>
      one.sentAt === undefined
        ? (one.notedAt ?? 0) > since
        : isAfter(late, one) || late.sentAt > (one.notedAt ?? Infinity);
    const card = this.#listening.find((one) => isFor(one) && isHeard(one));
    return card && claimOf(card, undefined);
  }
}

function claimOf(
  { asksForQuote = false, key, options, speaker }: IndexedCard,
  number: number | undefined,
): CardClaim {
  const isOption = number !== undefined && number >= 1 && number <= options;
  return { key, speaker, ...(isOption && { option: number }), ...(asksForQuote && { asksForQuote }) };
}

/** Whether a message was sent after a card. If the platform numbers its messages, the ids tell exactly. */
function isAfter(question: ClaimQuestion, card: IndexedCard): boolean {
  const { isNumbered, isNumberedInThread = false, messageId, sentAt, threadId } = question;
  if (card.sentAt === undefined || card.messageIds.length === 0) return false;
  const areComparable =
    isNumbered ||
    (isNumberedInThread && threadId === card.threadId && [messageId, ...card.messageIds].every(isInteger));
  if (!areComparable) return sentAt > card.sentAt;
  return card.messageIds.every((id) => Number(messageId) > Number(id));
}

function isInteger(id: string): boolean {
  return Number.isSafeInteger(Number(id));
}

/** Whether a message was sent after the last revision of a card. Platforms tell whole seconds. */
function isAboutRevision({ sentAt }: ClaimQuestion, card: IndexedCard): boolean {
  const isRevised = card.sentAt !== undefined && card.revision > card.sentAt;
  return !isRevised || sentAt + 1_000 > card.revision;
}

function isSame(left: IndexedCard, right: IndexedCard): boolean {
  return identityOf(left) === identityOf(right);
}

function identityOf(card: IndexedCard): string {
  const {
    asksForMessage = false,
    asksForQuote = false,
    asksForWord = false,
    chatId,
    messageIds,
    options,
    sentAt = 0,
    speaker,
    threadId,
  } = card;
  // Only numbers depend on the revision.
  const revision = options > 0 ? card.revision : 0;
  const asks = [asksForWord, asksForQuote, asksForMessage];
  return JSON.stringify([chatId, threadId, speaker, options, sentAt, messageIds, revision, ...asks]);
}
