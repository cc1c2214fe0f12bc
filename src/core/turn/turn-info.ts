import type { MessengerAuthor, MessengerEvent } from "../chat/messenger-event.ts";
import type { Address } from "../chat/surface.ts";

/**
 * Origin of a turn.
 *
 * - `messages`: people wrote to the bot
 * - `prompt`: the bot's own code asked the model, through a submission, a schedule or `chat()`
 * - `outcome`: an action ended that somebody had to decide about
 */
export type TurnKind = "messages" | "prompt" | "outcome";

/** The turn in which the bot's code runs. Plain JSON. */
export interface TurnInfo {
  /** Id of the turn and of its reply, for `deliveries.get`. For a prompt, the submission's id. */
  readonly id: string;
  readonly kind: TurnKind;
  /** The authors of its messages, each once. Empty unless `kind` is `messages`. */
  readonly authors: readonly MessengerAuthor[];
  /** The chats that its answer goes to. Empty if no chat shows the answer. */
  readonly answerTo: readonly Address[];
  /** The newest message that it answers. Undefined unless `kind` is `messages`. */
  readonly event?: MessengerEvent;
  /** The `metadata` of the submission. */
  readonly metadata?: PromptMetadata;
  /** The channel that the bot's own code gave to the turn. See `activeChannel`. */
  readonly channel?: string;
  /** Whether the turn was begun by `continueLastTurn()`. Undefined: no. */
  readonly continues?: true;
}

/** Whether no new question began a turn: it goes on with the last answer, or tells the outcome of an action. */
export function isContinuation(turn: TurnInfo | undefined): boolean {
  return turn?.continues === true || turn?.kind === "outcome";
}

/** Facts about a prompt for the bot's own code. The model never sees them. */
export type PromptMetadata = Readonly<Record<string, string | number | boolean | null>>;
