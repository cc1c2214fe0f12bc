import type { Delivery, ReplyStart } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { addressOf } from "./address-of.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";

/** Sends a text that is not the model's answer to the place of an event; once for each id. */
export function sendNotice(
  delivery: Delivery,
  id: string,
  event: Pick<MessengerEvent, "messengerId" | "thread" | "message">,
  definition: NormalizedMessengerDefinition,
  text: string,
): void {
  delivery.send({ id, ...postingOf(event, definition) }, text);
}

/** Returns the destination and options of a message to the chat that an event came from. */
export function postingOf(
  event: Pick<MessengerEvent, "messengerId" | "thread" | "message">,
  definition: NormalizedMessengerDefinition,
): Pick<ReplyStart, "address" | "policy" | "seenMessageId"> {
  return {
    address: addressOf(event),
    policy: replyPolicy(definition.delivery),
    ...(event.message !== undefined &&
      event.thread.formerChatId === undefined && { seenMessageId: event.message.id }),
  };
}
