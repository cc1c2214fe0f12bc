import type { Address } from "../../src/core/chat/surface.ts";

/** Returns the key of an address's lane. Replies with the same key are shown one after the other. */
export function laneKey(address: Address): string {
  return JSON.stringify([address.messengerId, address.threadId]);
}

export function isSameChat(left: Address, right: Address): boolean {
  return left.messengerId === right.messengerId && left.chatId === right.chatId;
}
