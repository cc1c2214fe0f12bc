import type { MessengerAuthor } from "../../../src/core/chat/messenger-event.ts";

export const ADA = { userId: "7", fullName: "Ada" };
/** Writes a third of the messages in groups. */
export const BOB = { userId: "8", fullName: "Bob" };

export function authorOf(userId: string): MessengerAuthor {
  return userId === BOB.userId ? BOB : ADA;
}
