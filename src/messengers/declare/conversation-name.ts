import { ConfigurationError } from "../../core/errors.ts";
import type { ConversationTarget } from "../../core/messenger.ts";

/** Durable Object names are at most 1,024 bytes; the root's name and a separator come in front of ours. */
const MAX_NAME_BYTES = 512;

/**
 * The name of the conversation that belongs to a thread. The messenger's id is part of it, and neither can contain the
 * other's separator, so that two threads never share one (I11); names that a resolver makes begin differently.
 */
export function threadConversationName(messengerId: string, threadId: string): string {
  return `thread:${encodeURIComponent(messengerId)}:${encodeURIComponent(threadId)}`;
}

/** Whether an object bears the name of a thread's own conversation, behind that of its root. */
export function isThreadConversation(objectName: string): boolean {
  return objectName.slice(objectName.indexOf("/") + 1).startsWith("thread:");
}

/** The name of an object's conversation behind that of its root; `undefined` for a root. */
export function conversationNameOf(objectName: string | undefined): string | undefined {
  const end = objectName?.indexOf("/") ?? -1;
  return end === -1 ? undefined : objectName?.slice(end + 1);
}

/**
 * The name of a conversation that a resolver chose.
 *
 * @throws {ConfigurationError} when the name is empty, too long, or has control characters.
 */
export function chosenConversationName(target: ConversationTarget & { readonly target: "subagent" }): string {
  const { name } = target;
  if (
    typeof name !== "string" ||
    name.length === 0 ||
    new TextEncoder().encode(name).length > MAX_NAME_BYTES
  ) {
    throw new ConfigurationError(
      "conversation-name-invalid",
      `conversation() must return a name of 1 to ${MAX_NAME_BYTES} bytes; it returned one of ${name.length} characters.`,
    );
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(name)) {
    throw new ConfigurationError(
      "conversation-name-invalid",
      "conversation() returned a name with control characters.",
    );
  }
  return `named:${encodeURIComponent(name)}`;
}
