import type { ChatMove } from "../src/core/chat-move.ts";
import type { ChatGate } from "../src/core/gate.ts";
import type { Database } from "../src/core/database.ts";
import type { GonePlace, ReplyState } from "../src/core/delivery.ts";
import type { Deps } from "../src/core/deps.ts";
import type { Log } from "../src/core/log.ts";
import type { Address, Surface } from "../src/core/surface.ts";

export interface DeliveryOptions {
  /** The thread's own database. */
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  /** The gate of a chat. It may reject when it cannot be reached; the call waits then. */
  readonly gateOf: (address: Address) => ChatGate;
  /** The name of this object among those that speak in a chat. */
  readonly speaker: string;
  /** The surface of a messenger. May throw for one that is not declared any more: its replies end as `failed`. */
  readonly surfaceFor: (messengerId: string) => Surface;
  /** (Re)arms the durable alarm at which `run` is called; `undefined` when none is needed. Told of every change. */
  readonly onWake: (at: number | undefined) => void;
  /** How long receipts are kept, in milliseconds; swept once a day while there is something to do. @default 30 days */
  readonly keepReceiptsMs?: () => number;
  /** A reply has ended. Called once for each. */
  readonly onEnded?: (replyId: string, state: ReplyState) => void;
  /** A chat takes nothing any more, until `revive`; or a thread of it did not take what it was to show. */
  readonly onGone?: (place: GonePlace, code: string) => void;
  /** A chat goes on under another id. Called once for each, in the transaction in which that is stored. */
  readonly onMoved?: (messengerId: string, move: ChatMove) => void;
  /** The platform has refused the messenger's credentials, with this code, or takes them again. */
  readonly onAccess?: (messengerId: string, refusedWith: string | undefined) => void;
}
