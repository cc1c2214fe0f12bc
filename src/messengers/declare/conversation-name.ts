import { createHash } from "node:crypto";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { ConversationTarget } from "../../core/chat/messenger.ts";

const MAX_NAME_BYTES = 512;
/**
 * A Durable Object with a name of more than 1,024 bytes does not know its name, and nothing could be stored there. The
 * root's name and a separator come before ours.
 */
const MAX_ENCODED_BYTES = 900;

/**
 * Returns the name of a thread's conversation. The messenger's id is part of it, and neither part can contain the
 * separator. So two threads never share a name (I11). Names from a `conversation` function begin differently.
 */
export function threadConversationName(messengerId: string, threadId: string): string {
  const messenger = `thread:${encodeURIComponent(messengerId)}`;
  const name = `${messenger}:${encodeURIComponent(threadId)}`;
  if (name.length <= MAX_ENCODED_BYTES) return name;
  // No other thread has a second separator.
  return `${messenger}:sha256:${createHash("sha256").update(threadId).digest("hex")}`;
}

/** Tells whether an object's name is that of a thread's own conversation. */
export function isThreadConversation(objectName: string): boolean {
  return objectName.slice(objectName.indexOf("/") + 1).startsWith("thread:");
}

/** Returns the conversation's part of an object's name. Undefined for a root. */
export function conversationNameOf(objectName: string | undefined): string | undefined {
  const end = objectName?.indexOf("/") ?? -1;
  return end === -1 ? undefined : objectName?.slice(end + 1);
}

/** Returns the root's part of an object's name. */
export function rootNameOf(objectName: string): string {
  return objectName.split("/", 1)[0] ?? "";
}

/** Where objects of one bot reach each other: a conversation, after its class if that is not the class of the root. */
export interface ObjectAddress {
  readonly className?: string;
  /** `""` is the root itself. */
  readonly conversation: string;
}

export function parseObjectAddress(address: string): ObjectAddress {
  const [, className, conversation = address] = /^([^@:]+)@(.*)$/s.exec(address) ?? [];
  return { conversation, ...(className !== undefined && { className }) };
}

/**
 * Returns the conversation that a `conversation` function chose, and its class: none is the class of the root.
 *
 * @throws {ConfigurationError} `conversation-name-invalid` as in `namedConversationName`, or if it is not a target at
 * all; `agent-class-invalid`
 */
export function chosenConversation(target: ConversationTarget | string): ObjectAddress {
  if (typeof target === "string") return { conversation: namedConversationName(target, "conversation()") };
  if (target?.target === "self") return { conversation: "" };
  const conversation = namedConversationName(target?.name, "conversation()");
  if (target.agentClass === undefined) return { conversation };
  const { name: className, prototype } = target.agentClass as {
    readonly name?: unknown;
    readonly prototype?: unknown;
  };
  if (
    typeof className === "string" &&
    typeof (prototype as { inner?: unknown } | undefined)?.inner === "function"
  )
    return { conversation, className };
  throw new ConfigurationError(
    "agent-class-invalid",
    "The agentClass that conversation() returned is no class that extends Think.",
  );
}

/**
 * Returns the name of the conversation that bot code calls `name`. It begins with `named:`, so it is never the object of
 * a thread (I11).
 *
 * @param source the method that `name` comes from, for the error
 * @throws {ConfigurationError} `conversation-name-invalid` when the name is empty, too long, not Unicode, or has control
 * characters
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
  const encoded = `named:${wellFormed(name, source)}`;
  checkEncoded(encoded, source);
  return encoded;
}

function wellFormed(name: string, source: string): string {
  // Half of a surrogate pair has no UTF-8.
  if (name.isWellFormed()) return encodeURIComponent(name);
  throw new ConfigurationError("conversation-name-invalid", `${source} got a name with half a character.`);
}

function checkEncoded(encoded: string, source: string): void {
  if (encoded.length <= MAX_ENCODED_BYTES) return;
  throw new ConfigurationError(
    "conversation-name-invalid",
    `${source} got a name that has ${encoded.length} bytes as part of an address. The most is ${MAX_ENCODED_BYTES}. Letters outside of ASCII need 6 or more; use an id or a hash.`,
  );
}

/**
 * Checks the name of a conversation as `listConversations()` has it, and returns it without its class.
 *
 * @param source the method that `name` comes from, for the error
 * @throws {ConfigurationError} `conversation-name-invalid`
 */
export function listedConversationName(listed: string, source: string): string {
  const name = parseObjectAddress(listed).conversation;
  if (name === "" || /^(?:thread|named):./.test(name)) {
    checkEncoded(name, source);
    return name;
  }
  throw new ConfigurationError(
    "conversation-name-invalid",
    `${source} needs the name of a conversation as listConversations() has it: it begins with "thread:" or "named:".`,
  );
}
