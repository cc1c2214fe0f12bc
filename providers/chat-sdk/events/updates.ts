import type { Adapter } from "chat";
import { z } from "zod";
import type { MessengerAuthor, MessengerEvent } from "../../../src/core/chat/messenger-event.ts";

/** Name of the events that no code of the bot sees: `AdapterProfile.handleOwn` does. */
export const OWN_EVENT = "own";

/** Events of Chat SDK adapters that only the bot's own code handles. */
export type ChatSdkUpdateKind =
  | "modal submitted"
  | "modal closed"
  | "assistant thread started"
  | "assistant context changed"
  | "agent session stopped"
  | "agent session title changed"
  | "app home opened"
  | "app context changed"
  | "bot installed"
  | "bot uninstalled"
  | "member joined";

/** An event that Switchboard does not handle. Plain JSON. */
export interface ChatSdkUpdate {
  readonly kind: ChatSdkUpdateKind;
  /** Equal for every redelivery. */
  readonly key: string;
  readonly author?: MessengerAuthor;
  /** Of a form: the id that the bot gave it. */
  readonly callbackId?: string;
  /** Of a form: the text that the bot gave it. */
  readonly privateMetadata?: string;
  /** Of a form that was sent: what the person has filled in, by the id of the input. */
  readonly values?: Readonly<Record<string, string>>;
  /** All fields of the SDK's event of this kind. `raw` of it is the platform's own object. */
  readonly event: Readonly<Record<string, unknown>>;
}

export interface ChatSdkUpdateContext {
  readonly update: ChatSdkUpdate;
  /**
   * The messenger's adapter. Its calls are outside of the chat's budget and the outbox. They are never repeated or slowed
   * down, and a crash may lose them.
   */
  readonly adapter: Adapter;
}

const fields = z.record(z.string(), z.unknown()).catch({});
const form = z.object({
  callbackId: z.string().optional().catch(undefined),
  privateMetadata: z.string().optional().catch(undefined),
  values: z.record(z.string(), z.string()).optional().catch(undefined),
});

/** Returns the update for bot code from its event. */
export function updateOf({ author, detail, key, raw }: MessengerEvent): ChatSdkUpdate {
  const event = fields.parse(raw);
  const { callbackId, privateMetadata, values } = form.parse(event);
  return {
    // The event was stored by `ofUpdate`, which takes no other kind.
    kind: detail as ChatSdkUpdateKind,
    key,
    ...(author !== undefined && { author }),
    ...(callbackId !== undefined && { callbackId }),
    ...(privateMetadata !== undefined && { privateMetadata }),
    ...(values !== undefined && { values }),
    event,
  };
}
