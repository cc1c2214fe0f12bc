import type { ReplyState } from "../../src/core/chat/delivery.ts";
import type { Address, CallFailure, OutgoingMedia } from "../../src/core/chat/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";

/** The replies of one engine, as the outcomes of calls change them. `OpenReplies` implements it. */
export interface Replies {
  /** Returns the reply with this id, if it is in memory. */
  get(replyId: string): Reply | undefined;
  /** Stores that a reply has ended, and resolves its waiting callers. Does nothing if it has already ended. */
  end(reply: Reply, state: ReplyState, code: string | undefined): void;
  /** Ends all replies of a chat, or of one thread, that accepts nothing any more. */
  endPlace(address: Address, failure: CallFailure): void;
  /** Moves all replies of a chat that continues under another id. */
  movePlace(address: Address, failure: Extract<CallFailure, { kind: "moved" }>): void;
  /** Stores another form for a reply's files, because the platform refused the first. */
  reshapeFiles(reply: Reply, files: readonly OutgoingMedia[]): void;
  /** Sends the files of a refused album one by one, or a text in place of a refused file. */
  refuseFiles(reply: Reply, files: readonly OutgoingMedia[], code: string): void;
  /** Continues a card without its picture, because the platform refused it. The text is better than nothing. */
  leaveOutPicture(reply: Reply): void;
  /** Continues a reply without its quote, because the message cannot be quoted. */
  unquote(reply: Reply): void;
  /** Stores a streaming reply's text so far. Called before a message shows text that can never be changed. */
  keepText(reply: Reply): void;
  /** Whether another message of the chat is in doubt. Nothing is posted then. */
  hasOtherDoubt(entry: OutboxEntry | undefined, address: Address): boolean;
  /** Notes that the outcome of a post is known, so other posts of the chat may continue. */
  doubtEnded(address: Address): void;
  /** Makes the reply look at its messages again, after late news about one of them. */
  revisit(replyId: string): void;
}

/** Changes cards whose messages the platform does not remove. `CardRevisions` implements it. */
export interface CardLock {
  /**
   * Makes the messages that a card no longer needs be edited. Returns false if there is nothing to change.
   */
  lock(reply: Reply): boolean;
}
