import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import type { World } from "./world.ts";

/** Reports the ids of incoming messages to the root, if the platform numbers messages. */
export function observeIds(
  { platform, root }: World,
  { messageId, thread: { chatId } }: IncomingEvent,
): void {
  if (messageId === undefined || platform.kind !== "telegram") return;
  const box = platform.boxOf(chatId);
  root.object().budget.noteIncoming("sim", box, box !== chatId, [Number(messageId)]);
}
