import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { correctedEvent } from "../../inbox/corrected-event.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { MessagesTurn } from "../../turn/turn-store.ts";
import type { FollowUps } from "./follow-ups.ts";
import { isForThread } from "./is-for-thread.ts";
import type { TurnParts } from "./turn-parts.ts";

export interface EditedTurn {
  readonly turn: MessagesTurn;
  /** The message that was edited. */
  readonly row: InboxRow;
}

/** Edits of the messages that turns have answered. It finds and corrects them; `TurnRunner` restarts turns. */
export class EditedTurns {
  readonly #options: TurnParts;
  readonly #followUps: FollowUps;

  constructor(options: TurnParts, followUps: FollowUps) {
    this.#options = options;
    this.#followUps = followUps;
  }

  /** Returns the newest turn with its edited message, if the turn shall start over with the edit. */
  rerunnable(edit: MessengerEvent): EditedTurn | undefined {
    const found = this.#find(edit);
    return found?.turn.state === "open" || found?.turn.state === "ended" ? found : undefined;
  }

  /** Stores an edit that does not restart its turn, so that a later restart sees it. */
  keep(edit: MessengerEvent): void {
    const found = this.#find(edit);
    if (found !== undefined) this.correct(found, edit);
  }

  /** Stores the new version of an edited message. */
  correct({ row }: EditedTurn, edit: MessengerEvent): void {
    this.#options.inbox.correct(row.seq, correctedEvent(row, edit));
  }

  /**
   * Returns the newest turn with its edited message, if the messenger answers edited messages again, or nobody has
   * decided about the turn's question: nobody should agree to what the person no longer wants.
   */
  #find(edit: MessengerEvent): EditedTurn | undefined {
    const { consent, inbox, memory, messengers, turns } = this.#options;
    const turn = turns.newest();
    if (turn?.kind !== "messages" || this.#followUps.hasActed(turn)) return undefined;
    if (turn.session !== memory.session()) return undefined;
    const isAsking = consent?.isAsking(turn.id) === true;
    if (!messengers.get(edit.messengerId).rerunOnEdit && !isAsking) return undefined;
    const row = inbox
      .rows(turn.messageSeqs)
      .find(
        (candidate) =>
          isForThread(candidate, turn) &&
          candidate.event?.message?.id === edit.message?.id &&
          candidate.event?.thread.formerChatId === edit.thread.formerChatId,
      );
    return row === undefined || edit.thread.chatId !== turn.address.chatId ? undefined : { turn, row };
  }
}
