import type { CardPress } from "../../../src/core/chat/card-press.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { CardWatch } from "./card-watch.ts";
import type { SaidCard } from "./card-watch.ts";
import type { Invariant, SurfaceCall } from "./contract.ts";
import type { Life } from "../machine/life.ts";

/** A number that a person wrote. */
interface TypedNumber {
  readonly threadId: string;
  readonly messageId: number;
  readonly number: number;
  handled: number;
}

export interface PressWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  /** By what the simulation calls them. */
  readonly cards: ReadonlyMap<string, SaidCard>;
  /** Called with the answer to a press of an approval's card. */
  readonly onDecision: (actionId: string, notice: string | undefined) => void;
  /** Whether a card was posted in a thread before a message of this id. */
  readonly wasPosted: (threadId: string, token: string, messageId: number) => boolean;
}

/** The button of a card that a person presses. */
export interface PressedButton {
  readonly card: string;
  readonly label: string;
  /** The platform's event about the press. */
  readonly data: string;
  /** Id of the person. */
  readonly person: string;
}

interface Press {
  readonly threadId: string;
  /** Nothing for a button that no card of the bot's own code has. */
  readonly button: PressedButton | undefined;
  /** Whether it is a button of an approval's card. */
  readonly isDecision: boolean;
  /** The process that has stored it, and when. */
  stored: { readonly at: number; readonly by: Life | undefined } | undefined;
  /** How often the bot's handler has begun. */
  handled: number;
  /** When the bot's handler has begun. Undefined if it has not, or has thrown. */
  handledAt: number | undefined;
  readonly calls: {
    readonly number: number;
    readonly at: number;
    readonly by: Life;
    readonly notice: string | undefined;
    /** Whether nothing has to be said, because the press repeats one that was handled. */
    readonly isRepetition: boolean;
    /** When the platform has answered, and how. */
    end: { readonly at: number; readonly hasFailed: boolean } | undefined;
  }[];
}

/** Name of a press in the simulation: of a button, or by a number. */
export function nameOfPress({ action, key }: Pick<MessengerEvent, "action" | "key">): string {
  return action?.id ?? key.slice(2);
}

/** The answer to a person whose press is not handled. */
export const STALE = "stale";
export const INTERRUPTED = "interrupted";

/** Longest time from a stored press to its answer. */
const AT_ONCE_MS = 50;
/** The same for a press that a handler answers, with the way to another object, and what a death adds to it. */
const HANDLED_MS = 10_100;
const DEATH_MS = 15_000;
/** An answer that takes longer than this is given again. */
const CALL_MS = 5_000;
/** A press of a button that is gone repeats an earlier one of the same person for this time. */
const REPEATED_WITHIN_MS = 60_000;

/**
 * Every press of a button is answered: at once, or as soon as its handler is done, after 10 s at the latest, whatever the
 * chat's budget says, and once (I7). Its handler runs at most once (I2), and always if nothing else is said. Only a second
 * press of a button that is gone needs neither, if the handler of the first one, by the same person, has not thrown.
 */
export class PressWatch {
  /** Presses that were answered while their chat was in a penalty. */
  inPenalty = 0;
  answered = 0;
  handled = 0;
  stale = 0;
  interrupted = 0;
  /** Numbers that were handled like a press. */
  typed = 0;
  readonly #options: PressWatchOptions;
  readonly #presses = new Map<string, Press>();
  readonly #numbers = new Map<string, TypedNumber>();
  /** When the last process that died could run again. */
  #deadUntil = -Infinity;

  constructor(options: PressWatchOptions) {
    this.#options = options;
  }

  pressed(actionId: string, threadId: string, button?: PressedButton, isDecision = false): void {
    const unhandled = { stored: undefined, handled: 0, handledAt: undefined, calls: [] };
    this.#presses.set(actionId, { threadId, button, isDecision, ...unhandled });
  }

  /** A person writes a number. */
  wrote(name: string, threadId: string, messageId: number, number: number): void {
    this.#numbers.set(name, { threadId, messageId, number, handled: 0 });
  }

  stored(actionId: string, by: Life | undefined): void {
    const press = this.#presses.get(actionId);
    if (press !== undefined) press.stored ??= { at: this.#options.now(), by };
  }

  /** Something dies, and can run again at this time. */
  death(back: number): void {
    this.#deadUntil = Math.max(this.#deadUntil, back);
  }

  /** The bot's handler begins. */
  begins(pressed: CardPress): void {
    if (pressed.isTyped) {
      this.#beginsTyped(pressed);
      return;
    }
    const { cardId, event, label, payload } = pressed;
    const { cards, fail } = this.#options;
    const actionId = event.action?.id ?? "";
    const press = this.#presses.get(actionId);
    if (press?.button === undefined) {
      fail("I2", `a press ${actionId} is handled that nobody has made`);
      return;
    }
    this.handled += 1;
    press.handled += 1;
    press.handledAt = this.#options.now();
    if (press.handled > 1) fail("I2", `the press ${actionId} is handled twice`);
    const card = cards.get(press.button.card);
    const meant = JSON.stringify({ card: press.button.card, button: press.button.label });
    if (card?.id !== cardId || label !== press.button.label || JSON.stringify(payload) !== meant) {
      fail("I11", `the press ${actionId} of ${meant} is handled as ${label} of ${cardId}`);
    } else if (CardWatch.hasButton(card, press.button.data) === "no") {
      fail("I5", `the press ${actionId} is handled, and ${card.token} has no ${label} any more`);
    }
  }

  /** The bot's handler throws. */
  throws({ event }: CardPress): void {
    const press = this.#presses.get(event.action?.id ?? "");
    if (press !== undefined) press.handledAt = undefined;
  }

  /**
   * A number is handled once, and as an option of a card that the person could see as they wrote it. Which of several
   * cards is meant, the gate decides.
   */
  #beginsTyped({ cardId, event, label, payload }: CardPress): void {
    const { cards, fail, wasPosted } = this.#options;
    const name = nameOfPress(event);
    const typed = this.#numbers.get(name);
    const card = [...cards.values()].find(
      ({ id, threadId }) => id === cardId && threadId === typed?.threadId,
    );
    if (typed === undefined || card === undefined) {
      fail("I11", `the number ${name} is handled as an option of ${cardId}, which is not in its thread`);
      return;
    }
    this.typed += 1;
    typed.handled += 1;
    if (typed.handled > 1) fail("I2", `the number ${name} is handled twice`);
    if (!wasPosted(typed.threadId, card.token, typed.messageId)) {
      fail("I5", `the number ${name} is handled as an option of ${card.token}, which was posted after it`);
    }
    const meant = JSON.stringify({ card: card.token, button: label });
    const isOption = typed.number === (label === "keep" ? 1 : 2);
    if (!isOption || JSON.stringify(payload) !== meant) {
      fail("I5", `the number ${typed.number} (${name}) is handled as ${label} of ${card.token}`);
    }
  }

  onCall({ messageId: actionId = "", notice, number }: SurfaceCall, by: Life, isInPenalty: boolean): void {
    const { fail, now } = this.#options;
    const press = this.#presses.get(actionId);
    if (press === undefined) {
      fail("I7", `a press ${actionId} is answered that nobody has made`);
      return;
    }
    if (isInPenalty) this.inPenalty += 1;
    const lateMs = this.#lateMs(press, by);
    if (press.calls.length === 0 && lateMs > 0) {
      fail("I7", `the press ${actionId} is answered ${lateMs} ms too late`);
    }
    const isRepeated = press.calls.some(({ at, by: former, end }) => {
      if (end === undefined) return former === by && now() - at < CALL_MS;
      if (end.hasFailed || end.at - at >= CALL_MS) return false;
      // A process that died right after the answer could not store it. If a handler was slow, the press was only
      // acknowledged.
      return !former.isDead || (isBare(press) && former.diedAt > end.at + AT_ONCE_MS);
    });
    if (isRepeated) fail("I2", `the press ${actionId} is answered twice`);
    if (press.button !== undefined) this.#checkNotice(actionId, press.button, notice);
    if (press.isDecision) this.#options.onDecision(actionId, notice);
    const isRepetition = notice === undefined && this.#repeats(press);
    press.calls.push({ number, at: now(), by, notice, isRepetition, end: undefined });
  }

  onAnswer({ messageId: actionId = "", number }: SurfaceCall, error: unknown): void {
    const call = this.#presses.get(actionId)?.calls.find((candidate) => candidate.number === number);
    if (call === undefined) return;
    call.end = { at: this.#options.now(), hasFailed: error !== undefined };
    if (error === undefined) this.answered += 1;
  }

  checkThread(threadId: string): void {
    const { fail } = this.#options;
    for (const [actionId, press] of this.#presses) {
      if (press.threadId !== threadId || press.stored === undefined) continue;
      if (press.calls.length === 0) fail("I7", `the press ${actionId} was never answered`);
      if (press.button === undefined || press.handled > 0) continue;
      const isExplained = press.calls.some(
        ({ isRepetition, notice }) => isRepetition || notice === STALE || notice === INTERRUPTED,
      );
      if (!isExplained) fail("I7", `the press ${actionId} was answered, and its handler never ran`);
    }
  }

  /** Whether a person presses a button that is gone, and the handler of an earlier press of it has begun. */
  #repeats({ button }: Press): boolean {
    const card = this.#options.cards.get(button?.card ?? "");
    if (button === undefined || card === undefined) return false;
    if (CardWatch.hasButton(card, button.data) === "yes") return false;
    const since = this.#options.now() - REPEATED_WITHIN_MS;
    return [...this.#presses.values()].some(
      ({ button: other, handledAt = -Infinity }) =>
        handledAt > since && other?.data === button.data && other.person === button.person,
    );
  }

  #lateMs(press: Press, by: Life): number {
    const { stored } = press;
    const now = this.#options.now();
    if (stored === undefined) return 0;
    if (isBare(press)) return stored.by === by ? now - stored.at - AT_ONCE_MS : 0;
    const isHit = this.#deadUntil >= stored.at;
    return now - Math.max(stored.at, this.#deadUntil) - HANDLED_MS - (isHit ? DEATH_MS : 0);
  }

  /** That a button is gone, or that its press was interrupted, is said only where it is so. */
  #checkNotice(
    actionId: string,
    { card: token, data, label }: PressedButton,
    notice: string | undefined,
  ): void {
    const { cards, fail } = this.#options;
    const card = cards.get(token);
    if (notice === STALE) {
      this.stale += 1;
      const isThere = card !== undefined && CardWatch.hasButton(card, data) === "yes";
      if (isThere) fail("I5", `the press ${actionId} is stale, and ${token} still has ${label}`);
    }
    if (notice !== INTERRUPTED) return;
    this.interrupted += 1;
    if (this.#deadUntil === -Infinity)
      fail("I2", `the press ${actionId} was interrupted, and nothing has died`);
  }
}

/** Whether no card has the button, so that no handler runs. */
function isBare({ button, isDecision }: Press): boolean {
  return button === undefined && !isDecision;
}
