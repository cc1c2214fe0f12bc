import type { ChatGate } from "../../core/gate.ts";
import type { Address } from "../../core/surface.ts";
import { conversationNameOf, threadConversationName } from "../declare/conversation-name.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { CardEventsOptions } from "../intake/card-events.ts";
import type { RootLink } from "../root/root-link.ts";

export interface CardLinksOptions {
  /** The name of the object. */
  readonly name: string;
  readonly root: Pick<RootLink, "gate">;
  readonly messengers: Pick<DeclaredMessengers, "get" | "surface">;
}

type CardLinks = Pick<CardEventsOptions, "speaker" | "gateOf" | "isGate" | "isNumbered" | "canNotify">;

/** Finds the gates of an object's chats, and the abilities of their platforms. */
export function createCardLinks({ messengers, name, root }: CardLinksOptions): CardLinks {
  const gateName = ({ chatId, messengerId }: Address): string =>
    threadConversationName(messengerId, messengers.get(messengerId).platform.chatThreadId(chatId));
  return {
    speaker: name,
    gateOf: (address): ChatGate => root.gate(gateName(address)),
    isGate: (address) => conversationNameOf(name) === gateName(address),
    isNumbered: ({ messengerId }) => messengers.surface(messengerId).probing !== undefined,
    canNotify: ({ messengerId }) => messengers.surface(messengerId).capabilities.notices !== false,
  };
}
