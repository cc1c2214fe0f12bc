import type { MessengerEvent, QuotedMessage } from "../../../src/core/chat/messenger-event.ts";

/** Adds the words behind a command. */
export function withArgs({ message, ...event }: MessengerEvent, args: string): MessengerEvent {
  const command = message?.command;
  if (message === undefined || command === undefined) return { ...event, message };
  return { ...event, message: { ...message, command: { ...command, args } } };
}

/** Adds the message that somebody replies to. */
export function withQuote(
  { message, ...event }: MessengerEvent,
  quoted: QuotedMessage | undefined,
): MessengerEvent {
  return { ...event, message: message && { ...message, ...(quoted !== undefined && { quoted }) } };
}
