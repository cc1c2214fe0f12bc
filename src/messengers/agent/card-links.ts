import type { ChatGate } from "../../core/gate.ts";
import type { Address, Surface } from "../../core/surface.ts";
import { conversationNameOf, threadConversationName } from "../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { CardEventsOptions } from "../intake/card-events.ts";
import type { RootLink } from "../root/root-link.ts";

export interface CardLinksOptions {
  /** The name of the object. */
  readonly name: string;
  readonly root: Pick<RootLink, "gate">;
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
  readonly surface: (messengerId: string) => Surface;
}

type CardLinks = Pick<CardEventsOptions, "speaker" | "gateOf" | "isGate" | "isNumbered" | "canNotify">;

/** Finds the gates of an object's chats, and the abilities of their platforms. */
export function createCardLinks({ definition, name, root, surface }: CardLinksOptions): CardLinks {
  const gateName = ({ chatId, messengerId }: Address): string =>
    threadConversationName(messengerId, definition(messengerId).platform.chatThreadId(chatId));
  return {
    speaker: name,
    gateOf: (address): ChatGate => root.gate(gateName(address)),
    isGate: (address) => conversationNameOf(name) === gateName(address),
    isNumbered: ({ messengerId }) => surface(messengerId).probing !== undefined,
    canNotify: ({ messengerId }) => surface(messengerId).capabilities.notices !== false,
  };
}
