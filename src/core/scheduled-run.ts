import type { MessengerAuthor } from "./messenger-event.ts";
import type { ScheduleBinding } from "./schedule-binding.ts";
import type { Address } from "./surface.ts";

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
}

/** The `reason` of a `withdrawn` approval whose schedule somebody has deleted. */
export const SCHEDULE_DELETED = "schedule-deleted";
