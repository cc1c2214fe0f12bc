import type { ChatMove } from "../src/core/chat-move.ts";
import type { GatesOfChats } from "../src/core/gate.ts";
import type { Database } from "../src/core/database.ts";
import type { GonePlace, ReplyState } from "../src/core/delivery.ts";
import type { Deps } from "../src/core/deps.ts";
import type { Log } from "../src/core/log.ts";
import type { BotFileIds } from "../src/core/sent-file.ts";
import type { Surface } from "../src/core/surface.ts";

export interface DeliveryOptions {
  /** The thread's own database. */
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly gates: GatesOfChats;
  /** Returns a messenger's surface. May throw if it is no longer declared; its replies then end as `failed`. */
  readonly surfaceFor: (messengerId: string) => Surface;
  /** The platform's ids of files that any object of the bot has sent. @default those of this object only */
  readonly fileIds?: BotFileIds;
  /** Sets the durable alarm at which `run` is called, or clears it (`undefined`). Called for every change. */
  readonly onWake: (at: number | undefined) => void;
  /** Returns how long receipts are kept, in milliseconds. Deletes old ones once a day. @default 30 days */
  readonly keepReceiptsMs?: () => number;
  /** Called once when a reply has ended. */
  readonly onEnded?: (replyId: string, state: ReplyState) => void;
  /** Called when a chat accepts nothing any more (until `revive`), or a thread refused a reply. */
  readonly onGone?: (place: GonePlace, code: string) => void;
  /** Called once when a chat continues under another id, in the transaction that stores it. */
  readonly onMoved?: (messengerId: string, move: ChatMove) => void;
  /** Called when the platform has refused the messenger's credentials with this code, or accepts them again. */
  readonly onAccess?: (messengerId: string, refusedWith: string | undefined) => void;
}
