import type { ChatMove } from "./chat-move.ts";
import type { GonePlace } from "./delivery.ts";
import type { UnsentFile } from "../message/unsent-file.ts";

/** Hears what the calls of a delivery have shown about its chats. */
export interface ChatListener {
  /**
   * A chat accepts nothing any more (until `revive`), or a thread refused a reply. Called before its open replies end,
   * so that cut answers can be completed first.
   */
  chatGone(place: GonePlace, code: string): void;
  /** A chat continues under another id. Called once, in the transaction that stores it. */
  chatMoved(messengerId: string, move: ChatMove): void;
  /**
   * The platform has refused a file of a reply for good. Returns the text (Markdown) that people read in its place.
   * Called in the transaction that stores it.
   */
  fileRefused(messengerId: string, replyId: string, file: UnsentFile): string;
  /** The platform has refused the messenger's credentials with this code, or accepts them again (`undefined`). */
  accessChanged(messengerId: string, refusedWith: string | undefined): void;
}
