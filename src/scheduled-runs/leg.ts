import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { Address } from "../core/chat/surface.ts";
import type { TurnCost } from "../core/turn/turn-cost.ts";
import type { PromptMetadata } from "../core/turn/turn-info.ts";

/** A turn of an occurrence, for the object of its conversation. */
export interface LegRequest {
  readonly id: string;
  /** The question to the model. With `recites`: a line for the transcript, which says what the text is. */
  readonly prompt: string;
  /**
   * The text that the conversation shows and remembers, without asking its model. Only of occurrences that versions
   * before 0.2.0 have begun; answered until 0.3.0.
   */
  readonly recites: string | undefined;
  readonly address: Address | undefined;
  readonly metadata: PromptMetadata | undefined;
  /** For whom it runs. Undefined with `recites`. */
  readonly run?: ScheduledRun | undefined;
}

/** The state of a turn in the object of its conversation. */
export interface LegReport {
  readonly state: "open" | "waiting" | "completed" | "failed" | "skipped";
  /** Reason of `failed` and `skipped`. Of `completed`: how a request for consent ended otherwise than with the action. */
  readonly code?: string | undefined;
  /** Of `failed`: whether the chat accepts nothing any more. */
  readonly isGone?: boolean | undefined;
  /** The text of a completed turn that no chat shows. */
  readonly text?: string | undefined;
  /** The messages in its chat, once all of them are visible. Undefined before, and without a chat. */
  readonly messageIds?: readonly string[] | undefined;
  readonly usage?: TurnCost | undefined;
}
