import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { GonePlace } from "../../core/chat/delivery.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { OpenQuestions } from "../intake/open-questions.ts";
import type { TurnConsent } from "../turns/turn-consent.ts";

/** The person for whom an action ran, its chat, and its schedule, as far as it has them. */
export interface OutcomeFacts {
  readonly address: Address | undefined;
  readonly person: Pick<MessengerAuthor, "userId"> | undefined;
  readonly schedule?: { readonly taskId: string } | undefined;
}

/** The features of an object, all together, as its conversation uses them. */
export interface ThreadFeatures extends OpenQuestions, TurnConsent {
  /** Does the stored work that is due. Returns at once, and logs failures. */
  work(): void;
  /** Whether work is going on that only this process knows. */
  isBusy(): boolean;
  /** The time of the next stored work, in epoch milliseconds. Undefined if there is none. */
  nextWakeAt(): number | undefined;
  /** A chat accepts no messages any more. */
  chatGone(place: GonePlace): void;
  /** A chat of this conversation continues under another id. Called after that is stored. */
  conversationMoved(messengerId: string, move: ChatMove): void;
  runOf(turnId: string): ScheduledRun | undefined;
  /** For whom a turn tells the outcome of an action. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): OutcomeFacts | undefined;
}
