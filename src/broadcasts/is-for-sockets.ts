import type { BroadcastTargets } from "../core/broadcast.ts";
import type { Content } from "../core/content.ts";

/** A message for the web sockets of an object. */
export type SocketMessage = string | ArrayBuffer | ArrayBufferView;

/** Whether a call means the method of the base class, which it also makes by itself. */
export function isForSockets(
  message: Content | SocketMessage,
  without: BroadcastTargets | string[] | undefined,
): message is SocketMessage {
  const isBytes = message instanceof ArrayBuffer || ArrayBuffer.isView(message);
  const isList = Array.isArray(without) && without.every((connection) => typeof connection === "string");
  return isBytes || (typeof message === "string" && (without === undefined || isList));
}
