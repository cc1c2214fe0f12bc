import type { Approvals } from "../../approvals/approvals.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { IncomingEvent } from "../../core/messenger.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import type { Schedules } from "../../schedules/index.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { EventHandlers } from "../intake/event-handler.ts";
import type { RootLink } from "../root/root-link.ts";
import type { RouteResult } from "../root/root-runtime.ts";
import type { RenderAttachment } from "../turns/turn-attachments.ts";

export interface ThreadRuntimeOptions {
  /** Name of the object. */
  readonly name: string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly engine: TurnEngine;
  readonly root: RootLink;
  readonly messengers: DeclaredMessengers;
  readonly commands: () => ThinkCommands;
  /** The bot's handler of presses. */
  readonly onAction: (press: CardPress) => PressAnswer | Promise<PressAnswer>;
  /** Approvals of this conversation, which the loop drives. @default none */
  readonly approvals?: Pick<Approvals, "work" | "isBusy" | "nextWakeAt" | "hasConsent" | "drop">;
  /** Scheduled tasks of this object, which the loop drives. @default none */
  readonly schedules?: () => Pick<Schedules, "work" | "isBusy" | "nextWakeAt">;
  /** The cards of these approvals. @default none */
  readonly desk?: Pick<ApprovalDesk, "takesReply" | "hint" | "waitingIn" | "chatGone" | "messageDeleted">;
  /** Stores an event in another object of the bot. Resolves when it is durable there. */
  readonly handOver: (name: string, messengerId: string, event: IncomingEvent) => Promise<void>;
  /** Returns the bot's own content for an attachment. @default the usual content of its type */
  readonly renderAttachment?: RenderAttachment;
  /** The bot's handler of members who come and go. @default none */
  readonly onChatMember?: EventHandlers["onChatMember"];
  /** The bot's handler of reactions. @default none */
  readonly onReaction?: (reaction: MessengerContext) => void | Promise<void>;
  /** Whether the bot transcribes audio files. @default never */
  readonly transcribes?: () => boolean;
  /**
   * Passes an event to the conversation that the bot's `conversation` function names. Only in the object of a thread.
   */
  readonly route?: (messengerId: string, event: IncomingEvent) => Promise<RouteResult>;
  /** Returns how long receipts of deliveries are kept, in milliseconds. @default 30 days */
  readonly keepDeliveriesMs?: () => number;
  /** How long the root keeps the tokens of turns, in milliseconds. @default 0: it keeps none */
  readonly keepUsageMs?: () => number;
  /** Asks for a call of `drive` at this time at the latest, even if the object dies before. */
  readonly wakeAt: (at: number) => void;
  /**
   * Notes that nothing has to be done before this time, or ever (`undefined`). The wake-up may be postponed or removed.
   */
  readonly putOffWake: (at: number | undefined) => void;
}
