import { z } from "zod";
import type { ChatTarget, Resolution, TargetProblem } from "../../../core/chat/chat-target.ts";
import { ConfigurationError } from "../../../core/base/errors.ts";
import { WINDOW_CLOSED } from "../../../core/chat/window-closed.ts";
import {
  listedConversationName,
  namedConversationName,
  parseObjectAddress,
} from "../../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../../declare/define-messengers.ts";
import type { StoredChat } from "./chat-store.ts";
import type { RootParts } from "../root-parts.ts";

const id = z.string().min(1);
const targetSchema = z.union([
  z.string(),
  z.strictObject({ conversation: z.string() }),
  z.strictObject({ messenger: id, chatId: id, topicId: id.optional() }),
  z.strictObject({ messenger: id, userId: id }),
]);

/** Finds the address of a target, from the directories of the root: chats in which the bot was seen. */
export class Targets {
  readonly #options: RootParts;

  constructor(options: RootParts) {
    this.#options = options;
  }

  resolve(to: ChatTarget): Resolution {
    const parsed = targetSchema.safeParse(to);
    if (!parsed.success) {
      const forms =
        "a conversation's name, { conversation }, { messenger, chatId, topicId? } or { messenger, userId }";
      return refused("target-invalid", `A target is ${forms}. All ids are texts that are not empty.`);
    }
    if (typeof to === "string") return this.#ofConversation(() => namedConversationName(to, "say()"), to);
    if ("conversation" in to)
      return this.#ofConversation(
        () => listedConversationName(to.conversation, "{ conversation }"),
        to.conversation,
      );
    const definition = this.#options.messengers.find(to.messenger);
    if (definition === undefined)
      return refused("messenger-unknown", `getMessengers() declares no messenger "${to.messenger}".`);
    return "userId" in to
      ? this.#ofPerson(definition, to.userId)
      : this.#ofChat(definition, to.chatId, to.topicId);
  }

  #ofConversation(nameOf: () => string, asked: string): Resolution {
    let name: string;
    try {
      name = nameOf();
    } catch (error) {
      if (error instanceof ConfigurationError) return refused("target-invalid", error.message);
      throw error;
    }
    const { classes, store } = this.#options;
    // An agent of another class that has the same name is in no chat.
    const isOther = parseObjectAddress(asked).className !== undefined && classes.addressOf(name) !== asked;
    const known = isOther ? undefined : store.conversation(name);
    if (known === undefined)
      return refused("chat-unknown", `Nobody has written to the conversation "${asked}" yet.`);
    const chat = this.#options.chats.find(known);
    if (chat !== undefined && this.#isGone(chat)) return gone(chat);
    return { kind: "found", address: known };
  }

  #ofPerson(definition: NormalizedMessengerDefinition, userId: string): Resolution {
    const chat = this.#options.chats.ofPerson(definition.id, userId);
    const who = `The person "${userId}" of the messenger "${definition.id}"`;
    if (chat === undefined) return refused("person-not-reachable", `${who} has not written to the bot yet.`);
    if (!this.#isGone(chat)) return found(definition, chat);
    const refusal =
      chat.goneCode === WINDOW_CLOSED
        ? gone(chat)
        : refused("person-not-reachable", `${who} has blocked the bot (${chat.goneCode ?? "gone"}).`);
    return { ...refusal, isGone: true };
  }

  #ofChat(
    definition: NormalizedMessengerDefinition,
    chatId: string,
    topicId: string | undefined,
  ): Resolution {
    const { aliases, chats } = this.#options;
    const thread = { id: definition.platform.chatThreadId(chatId), chatId, isDirectMessage: false };
    const current = aliases.moveOf(definition.id, thread)?.to.chatId ?? chatId;
    const chat = chats.find({ messengerId: definition.id, chatId: current });
    if (chat === undefined) {
      return refused(
        "chat-unknown",
        `The bot was not seen in the chat "${chatId}" of the messenger "${definition.id}". listChats() has the chats that it knows.`,
      );
    }
    if (this.#isGone(chat)) return gone(chat);
    if (topicId !== undefined && definition.platform.topicThreadId === undefined)
      return refused("target-invalid", `The messenger "${definition.id}" has no topics.`);
    return found(definition, chat, topicId);
  }

  #isGone({ goneCode, goneSince, messengerId }: StoredChat): boolean {
    if (goneSince === undefined) return false;
    if (goneCode !== WINDOW_CLOSED) return true;
    return this.#options.messengers.find(messengerId)?.platform.opensWindows !== true;
  }
}

function found(
  { platform }: NormalizedMessengerDefinition,
  { chatId, kind, messengerId }: StoredChat,
  topicId?: string,
): Resolution {
  const ofTopic = topicId === undefined ? undefined : platform.topicThreadId?.(chatId, topicId);
  const address = {
    messengerId,
    threadId: ofTopic ?? platform.chatThreadId(chatId),
    chatId,
    ...(topicId !== undefined && { topicId }),
    isDirectMessage: kind === "private",
  };
  return { kind: "found", address };
}

function gone({ chatId, goneCode, messengerId }: StoredChat): Extract<Resolution, { kind: "refused" }> {
  const chat = `the chat "${chatId}" of the messenger "${messengerId}"`;
  if (goneCode === WINDOW_CLOSED) {
    return refused(
      WINDOW_CLOSED,
      `The platform takes no message to ${chat}, because the person has not written for too long. Wait until they write, or send one of the platform's templates by its own API.`,
    );
  }
  return refused("chat-gone", `The bot cannot write to ${chat} any more (${goneCode ?? "gone"}).`);
}

function refused(code: TargetProblem, message: string): Extract<Resolution, { kind: "refused" }> {
  return { kind: "refused", code, message };
}
