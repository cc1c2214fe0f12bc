import type { Address, OutgoingMessage, PostedMessage } from "../../src/core/surface.ts";
import type { TelegramClient } from "./client.ts";
import { chatOf, postFields } from "./edit-message.ts";

/**
 * Posts a place on a map, as a venue if it has a title or an address. A venue needs both: the coordinates stand in for
 * the one that is not given.
 */
export async function sendPlace(
  client: TelegramClient,
  address: Address,
  { address: street, latitude, longitude, title }: NonNullable<OutgoingMessage["location"]>,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<PostedMessage> {
  const place = { ...postFields(address, message), chat_id: chatOf(address), latitude, longitude };
  const name = title ?? street;
  const where = (title === undefined ? undefined : street) ?? `${latitude}, ${longitude}`;
  const sent =
    name === undefined
      ? await client.call("sendLocation", place, signal)
      : await client.call("sendVenue", { ...place, title: name, address: where }, signal);
  return { messageId: String(sent.message_id) };
}
