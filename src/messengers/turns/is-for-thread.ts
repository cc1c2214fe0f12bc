import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { MessagesTurn } from "../../turn/turn-store.ts";

/** Whether a turn answers the thread of a message. */
export function isForThread({ incoming, messengerId }: InboxRow, { address }: MessagesTurn): boolean {
  return messengerId === address.messengerId && incoming.thread.id === address.threadId;
}
