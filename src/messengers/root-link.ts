import type { ChatGate } from "../core/gate.ts";
import type { BotIdentity } from "../core/messenger.ts";
import type { AskedQuestion } from "./turn-limits.ts";

/** What a conversation's object asks its root for. Its methods cross to another object when it is not the root. */
export interface RootLink {
  /** The gate of the chats whose thread without a topic is this conversation. */
  gate(conversation: string): ChatGate;
  identity(messengerId: string): Promise<BotIdentity>;
  /** Whether a person may ask for one more answer; then it counts. */
  takeQuestion(asked: AskedQuestion): Promise<boolean>;
}
