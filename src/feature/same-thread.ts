import type { Address } from "../core/chat/surface.ts";

/** Whether two addresses belong to one thread of one messenger. */
export function isSameThread(
  one: Pick<Address, "messengerId" | "threadId">,
  other: Pick<Address, "messengerId" | "threadId">,
): boolean {
  return one.messengerId === other.messengerId && one.threadId === other.threadId;
}
