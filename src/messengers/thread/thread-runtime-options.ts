import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { TurnOperations } from "../../turn/tools/turn-operations.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { Wake } from "../declare/wake.ts";
import type { BotHandlers } from "../intake/bot-handlers.ts";
import type { ThreadFeatures } from "./thread-features.ts";
import type { RootLink } from "../root/root-link.ts";
import type { RenderAttachment } from "../turns/turn-attachments.ts";

export interface ThreadRuntimeOptions {
  /** Name of the object. */
  readonly name: string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly engine: TurnOperations;
  readonly root: RootLink;
  readonly messengers: DeclaredMessengers;
  readonly bot: ThreadBot;
  readonly wake: Wake;
  /** The features of the object, which the loop drives. @default none */
  readonly features?: ThreadFeatures;
  /** Hears that the turn of a prompt ends, in its transaction. @default nobody */
  readonly runs?: { promptEnded(promptId: string): void };
}

/** The bot's own code, as a conversation calls it. */
export interface ThreadBot extends BotHandlers {
  /** Returns the bot's own content for an attachment. @default the usual content of its type */
  readonly renderAttachment?: RenderAttachment | undefined;
  /** How long receipts of deliveries are kept, in milliseconds. @default 30 days */
  readonly keepDeliveriesMs?: number;
  /** How long the root keeps the tokens of turns, in milliseconds. @default 0: it keeps none */
  readonly keepUsageMs?: number;
  /** Whether the bot transcribes audio files. @default never */
  transcribes?(): boolean;
}
