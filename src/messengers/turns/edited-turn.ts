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
  readonly messengers: Pick<DeclaredMessengers, "get">;
}

/** Returns the newest turn with its edited message, if the messenger answers edited messages again. */
export function editedTurn(
  { hasActed, inbox, memory, messengers, turns }: EditedTurnOptions,
  edit: MessengerEvent,
): EditedTurn | undefined {
  const turn = turns.newest();
  if (turn?.kind !== "messages" || hasActed(turn)) return undefined;
  if (!messengers.get(edit.messengerId).rerunOnEdit || turn.session !== memory.session()) return undefined;
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
