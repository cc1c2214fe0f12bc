import type { PlatformContext } from "../../core/messenger.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { EventHandlers } from "./event-handler.ts";

/** Returns the bot's code for events of a messenger that start no turn. */
export function eventHandlers(
  { platform: { handleUpdate } }: NormalizedMessengerDefinition,
  context: PlatformContext,
  { onChatMember, onReaction }: Pick<EventHandlers, "onChatMember" | "onReaction">,
): EventHandlers {
  return {
    onChatMember,
    onReaction,
    onUpdate: handleUpdate && ((event) => handleUpdate(event, context)),
  };
}
