import type { ChatGate, GatesOfChats } from "../../../core/chat/gate.ts";
import type { Address } from "../../../core/chat/surface.ts";
import { conversationNameOf, threadConversationName } from "../../declare/conversation-name.ts";
import type { DeclaredMessengers } from "../../declare/declared-messengers.ts";
import type { RootLink } from "../root-link.ts";

export interface ChatGatesOptions {
  readonly name: string;
  readonly root: Pick<RootLink, "gate">;
  readonly messengers: Pick<DeclaredMessengers, "get">;
}

/** Finds the gates of the chats that an object writes to. */
export class ChatGates implements GatesOfChats {
  readonly speaker: string;
  readonly #options: ChatGatesOptions;

  constructor(options: ChatGatesOptions) {
    this.#options = options;
    this.speaker = options.name;
  }

  gateOf(address: Address): ChatGate {
    return this.#options.root.gate(this.#nameOf(address));
  }

  /** Whether this object is the gate of a chat. */
  isGate(address: Address): boolean {
    return conversationNameOf(this.speaker) === this.#nameOf(address);
  }

  #nameOf({ chatId, messengerId }: Address): string {
    const { platform } = this.#options.messengers.get(messengerId);
    return threadConversationName(messengerId, platform.chatThreadId(chatId));
  }
}
