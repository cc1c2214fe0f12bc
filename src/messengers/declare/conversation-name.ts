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
 * Returns the conversation that a resolver chose: `""` for the root itself.
 *
 * @throws {ConfigurationError} `conversation-name-invalid` as `namedConversationName`, or when it is no target at all
 */
export function chosenConversationName(target: ConversationTarget | string): string {
  if (typeof target === "string") return namedConversationName(target, "conversation()");
  if (target?.target === "self") return "";
  return namedConversationName(target?.name, "conversation()");
}

/**
 * Returns the name of the conversation that bot code calls `name`. It begins with `named:`, so it is never the object of
 * a thread (I11).
 *
 * @param source the method that `name` comes from, for the error
 * @throws {ConfigurationError} `conversation-name-invalid` when the name is empty, too long, or has control characters
 */
export function namedConversationName(name: unknown, source: string): string {
  if (typeof name !== "string" || name === "" || new TextEncoder().encode(name).length > MAX_NAME_BYTES) {
    const found = typeof name === "string" ? `one of ${name.length} characters` : typeof name;
    throw new ConfigurationError(
      "conversation-name-invalid",
      `${source} needs a name of 1 to ${MAX_NAME_BYTES} bytes; it got ${found}.`,
    );
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(name)) {
    throw new ConfigurationError(
      "conversation-name-invalid",
      `${source} got a name with control characters.`,
    );
  }
  return `named:${encodeURIComponent(name)}`;
}

/**
 * Checks the name of a conversation as `listConversations()` has it.
 *
 * @param source the method that `name` comes from, for the error
 * @throws {ConfigurationError} `conversation-name-invalid`
 */
export function listedConversationName(name: string, source: string): string {
  if (name === "" || /^(?:thread|named):./.test(name)) return name;
  throw new ConfigurationError(
    "conversation-name-invalid",
    `${source} needs the name of a conversation as listConversations() has it: it begins with "thread:" or "named:".`,
  );
}
