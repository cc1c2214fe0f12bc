import type { BroadcastTarget, PlacedTarget } from "../../../core/turn/broadcast.ts";
import type { Resolution } from "../../../core/chat/chat-target.ts";
import type { Address } from "../../../core/chat/surface.ts";
import {
  namedConversationName,
  parseObjectAddress,
  threadConversationName,
} from "../../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../../declare/define-messengers.ts";
import type { Targets } from "./targets.ts";
import { givenAddressSchema } from "../../../core/chat/stored-address.ts";
import type { RootParts } from "../root-parts.ts";

interface TargetPlacesParts extends RootParts {
  readonly targets: Targets;
}

/**
 * Finds the conversation whose object writes to a target: the one that answers people there. So the message becomes part
 * of its memory.
 */
export class TargetPlaces {
  readonly #options: TargetPlacesParts;

  constructor(options: TargetPlacesParts) {
    this.#options = options;
  }

  placeOf(target: BroadcastTarget): PlacedTarget {
    const found = this.#resolve(target);
    if (found.kind === "refused") return { kind: "refused", code: found.code };
    const { address } = found;
    const { chatId, isDirectMessage, messengerId, threadId } = address;
    const definition = this.#options.messengers.find(messengerId);
    if (definition === undefined) return { kind: "refused", code: "messenger-unknown" };
    const { id: firstId } = this.#options.aliases.firstThread(messengerId, {
      id: threadId,
      chatId,
      isDirectMessage,
    });
    const name = nameIn(target) ?? this.#answering(definition, threadId, firstId);
    const conversation = this.#options.classes.addressOf(name);
    return { kind: "found", address, conversation, key: JSON.stringify([messengerId, firstId]) };
  }

  /** Returns the place of a target, with the language of its reader. */
  locate(target: BroadcastTarget): PlacedTarget {
    const place = this.placeOf(target);
    if (place.kind === "refused") return place;
    const { language } = this.#options.chats.find(place.address) ?? {};
    return { ...place, ...(language !== undefined && { language }) };
  }

  #resolve(target: BroadcastTarget): Resolution {
    if (!isAddress(target)) return this.#options.targets.resolve(target);
    const parsed = givenAddressSchema.safeParse(target);
    return parsed.success
      ? { kind: "found", address: target }
      : { kind: "refused", code: "target-invalid", message: "The address is malformed." };
  }

  #answering(
    { conversation, id: messengerId }: NormalizedMessengerDefinition,
    threadId: string,
    firstId: string,
  ): string {
    if (conversation === "self") return "";
    const known =
      conversation === "thread" ? undefined : this.#options.store.conversationIn(messengerId, threadId);
    return known ?? threadConversationName(messengerId, firstId);
  }
}

function isAddress(target: BroadcastTarget): target is Address {
  return typeof target === "object" && target !== null && "messengerId" in target;
}

/** Returns the conversation that a target names. The target was found, so the name is valid. */
function nameIn(target: BroadcastTarget): string | undefined {
  if (typeof target === "string") return namedConversationName(target, "broadcast()");
  return "conversation" in target ? parseObjectAddress(target.conversation).conversation : undefined;
}
