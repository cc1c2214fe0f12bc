import type { ChatListener } from "../src/core/chat/chat-listener.ts";
import type { GatesOfChats } from "../src/core/chat/gate.ts";
import type { Database } from "../src/core/store/database.ts";
import type { ReplyState } from "../src/core/chat/delivery.ts";
import type { Deps } from "../src/core/base/deps.ts";
import type { Log } from "../src/core/base/log.ts";
import type { BotFileIds } from "./files/sent-file.ts";
import type { SurfaceSource } from "../src/core/chat/surface.ts";

export interface DeliveryOptions {
  /** The thread's own database. */
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly gates: GatesOfChats;
  readonly messengers: SurfaceSource;
  /** The platform's ids of files that any object of the bot has sent. @default those of this object only */
  readonly fileIds?: BotFileIds;
  /** Sets the durable alarm at which `run` is called, or clears it (`undefined`). Called for every change. */
  readonly onWake: (at: number | undefined) => void;
  /** Returns how long receipts are kept, in milliseconds. Deletes old ones once a day. @default 30 days */
  readonly keepReceiptsMs?: () => number;
  /** Called once when a reply has ended. */
  readonly onEnded?: (replyId: string, state: ReplyState) => void;
  readonly listener?: ChatListener;
  /** Whether an event that shows a placeholder may still begin a reply. @default all may */
  readonly isEventOpen?: (seq: number) => boolean;
}
