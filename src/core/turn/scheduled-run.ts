import type { MessengerAuthor } from "../chat/messenger-event.ts";
import type { ScheduleBinding } from "./schedule-binding.ts";
import type { Address } from "../chat/surface.ts";
import type { UsedTokens } from "./used-tokens.ts";

/** For whom a turn of a scheduled task runs, and where it asks people. Plain JSON. */
export interface ScheduledRun {
  readonly schedule: ScheduleBinding;
  readonly occurrenceKey: string;
  /** The person who made the schedule in a chat: its actions need that person's rights. Undefined for declared tasks. */
  readonly requester?: MessengerAuthor | undefined;
  /** The owner's chat, in which consent is asked. Undefined: in the chat of the turn. */
  readonly askIn?: Address | undefined;
  /** Whether questions of its actions are asked there, too. */
  readonly asksOwner?: boolean | undefined;
  /** The delivery to many chats that it belongs to, and its target there. Undefined for other runs. */
  readonly broadcast?: { readonly id: string; readonly target: string } | undefined;
  /** The chat that shows the answer of the turn itself. */
  readonly shownIn?: Address | undefined;
  /** Set if the agent of another conversation has begun the run as one of its calls. */
  readonly delegation?: Delegation | undefined;
}

/** A run that a call of another agent has begun. Its keeper asks people for it, and pays for it. Plain JSON. */
export interface Delegation {
  /** Everybody whose rights the run needs. */
  readonly people: readonly MessengerAuthor[];
  /** The person who pays for its tokens. Undefined: nobody. */
  readonly payer?: Pick<UsedTokens, "messengerId" | "chatId" | "userId"> | undefined;
  /** How long its tokens are kept, in milliseconds. */
  readonly keepUsageMs: number;
  /** Number of agents above it: 1 below a conversation. */
  readonly depth: number;
  /** Whether the keeper can ask people. */
  readonly canAsk: boolean;
}

/** The `reason` of a `withdrawn` approval whose schedule somebody has deleted. */
export const SCHEDULE_DELETED = "schedule-deleted";
