import type { ChatMove } from "../../core/chat-move.ts";
import type { ChatGate } from "../../core/gate.ts";
import type { BotIdentity } from "../../core/messenger.ts";
import type { AskedQuestion } from "./turn-limits.ts";

/** What a conversation's object asks its root for. Its methods cross to another object when it is not the root. */
export interface RootLink {
  /** The gate of the chats whose thread without a topic is this conversation. */
  gate(conversation: string): ChatGate;
  /** A call was refused, because its chat goes on under another id. */
  chatMoved(messengerId: string, move: ChatMove): Promise<void>;
  identity(messengerId: string): Promise<BotIdentity>;
  /** Whether a person may ask for one more answer; then it counts. */
  takeQuestion(asked: AskedQuestion): Promise<boolean>;
  /** Whether the platform has refused the messenger's credentials, with this code, or takes them again. */
  reportAccess(messengerId: string, refusedWith: string | undefined): Promise<void>;
}
