import type { MessengerAuthor, MessengerEvent } from "./messenger-event.ts";
import type { Address } from "./surface.ts";

/**
 * What began a turn.
 *
 * - `messages`: people wrote to the bot
 * - `prompt`: the bot's own code: a submission, a schedule, `chat()`
 * - `outcome`: an action that somebody decided about has ended
 */
export type TurnKind = "messages" | "prompt" | "outcome";

/** The turn for which the bot's code runs. Plain JSON. */
export interface TurnInfo {
  /** Also the id of its reply, as `getDelivery` takes it. For a prompt it is the submission's id. */
  readonly id: string;
  readonly kind: TurnKind;
  /** Everybody who wrote one of its messages, each once. Empty unless `kind` is `messages`. */
  readonly authors: readonly MessengerAuthor[];
  /** Where its answer goes. Empty for a turn whose answer no chat shows. */
  readonly answerTo: readonly Address[];
  /** The newest message that it answers. Undefined unless `kind` is `messages`. */
  readonly event?: MessengerEvent;
  /** What the submission said about itself. */
  readonly metadata?: PromptMetadata;
}

/** Facts about a prompt for the bot's own code. The model never sees them. */
export type PromptMetadata = Readonly<Record<string, string | number | boolean | null>>;
