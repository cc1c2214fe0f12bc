import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { InboxRow, InboxStore } from "../../inbox/inbox-store.ts";
import type { MessagesTurn, TurnStore } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { isForThread } from "./is-for-thread.ts";

export interface EditedTurn {
  readonly turn: MessagesTurn;
  /** The message that was edited. */
  readonly row: InboxRow;
}

export interface EditedTurnOptions {
  readonly inbox: InboxStore;
  readonly memory: ThreadMemory;
  readonly turns: TurnStore;
  /** Whether a turn has had an effect, or will have one that people have agreed to. */
  readonly hasActed: (turn: MessagesTurn) => boolean;
  /** Whether a turn waits for the consent of people to what the message said before. */
  readonly isAsking: (turn: MessagesTurn) => boolean;
  readonly messengers: Pick<DeclaredMessengers, "get">;
}

/**
 * Returns the newest turn with its edited message, if the messenger answers edited messages again, or nobody has decided
 * about the turn's question: nobody should agree to what the person no longer wants.
 */
export function editedTurn(
  { hasActed, inbox, isAsking, memory, messengers, turns }: EditedTurnOptions,
  edit: MessengerEvent,
): EditedTurn | undefined {
  const turn = turns.newest();
  if (turn?.kind !== "messages" || hasActed(turn)) return undefined;
  if (turn.session !== memory.session()) return undefined;
  if (!messengers.get(edit.messengerId).rerunOnEdit && !isAsking(turn)) return undefined;
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
