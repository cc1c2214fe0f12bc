import type { FeaturePress, PressAnswer } from "../../core/chat/card-press.ts";
import type { BotTexts } from "../../core/text/bot-texts.ts";
import type { Content } from "../../core/message/content.ts";
import type { ChatMemberEvent, MessengerContext } from "../../core/chat/messenger-context.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { safeText } from "../declare/texts.ts";

/** The content that a hook sends to the chat of its event. */
export type HookContent = Content | undefined | void;

/** The bot's own code for events that start no turn. */
export interface BotHandlers extends Pick<EventHandlers, "onChatMember" | "onReaction"> {
  commands(): ThinkCommands;
  /** The bot's own words. @default English */
  texts?(): BotTexts;
  /** `owner`: the owner of the card, as it is stored. */
  onAction(press: FeaturePress, owner: string | undefined): PressAnswer | Promise<PressAnswer>;
  /** Returns the owner of the cards that a command answers with. @default "": the bot's own code */
  ownerOf?(command: string): string;
}

/** The handlers of events of one messenger. A handler that the bot lacks is `undefined`. */
export interface EventHandlers {
  readonly onChatMember?: ((event: ChatMemberEvent) => HookContent | Promise<HookContent>) | undefined;
  readonly onReaction?: ((reaction: MessengerContext) => void | Promise<void>) | undefined;
  readonly onUpdate?: ((update: MessengerEvent) => void | Promise<void>) | undefined;
}

/** Returns the bot's code for events of a messenger that start no turn. */
export function eventHandlers(
  messengers: Pick<DeclaredMessengers, "get" | "context">,
  { onChatMember, onReaction }: Pick<EventHandlers, "onChatMember" | "onReaction">,
  messengerId: string,
): EventHandlers {
  const { delivery, platform } = messengers.get(messengerId);
  const { handleUpdate } = platform;
  const context = messengers.context(messengerId);
  return {
    onChatMember,
    onReaction,
    onUpdate:
      handleUpdate &&
      ((event) => handleUpdate(event, context, (name) => safeText(delivery, name, event, context.log))),
  };
}
