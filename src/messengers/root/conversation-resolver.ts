import type { IncomingEvent } from "../../core/chat/messenger.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import { mayBeAnswered } from "../../inbox/may-be-answered.ts";
import { chosenConversation, threadConversationName } from "../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { readEvent } from "../declare/read-event.ts";
import type { RootParts } from "./root-parts.ts";

/** The conversation of an event. */
export interface Resolved {
  /** The address of its object: see `parseObjectAddress`. */
  readonly name: string;
  /** `false` if it is only the object of a thread, which a bot with a function uses for events that nobody answers. */
  readonly isListed: boolean;
}

/** Longest time that `toEvent`, and then `conversation`, may take: a webhook waits for them, in milliseconds. */
const LIMIT_MS = 10_000;
/** Messages whose conversation is remembered, for their edits and deletions. In memory only. */
const MOST_REMEMBERED = 2000;

/**
 * Finds the conversation of an event.
 *
 * - A function of the bot is asked only for events that may be answered. All others go to the object of their thread.
 * - A chat that has moved keeps the conversation of its first id.
 * - An edit or a deletion follows its message, as long as the root remembers where that went.
 */
export class ConversationResolver {
  readonly #options: RootParts;
  readonly #remembered = new Map<string, string>();

  constructor(options: RootParts) {
    this.#options = options;
  }

  /** Rejects if the bot's code or the platform fails, or the function returns no usable name or class. */
  async of(definition: NormalizedMessengerDefinition, incoming: IncomingEvent): Promise<Resolved> {
    const { aliases, classes, deps, messengers } = this.#options;
    const { conversation, id } = definition;
    if (conversation === "self") return { name: "", isListed: true };
    const thread = aliases.firstThread(id, incoming.thread);
    if (conversation === "thread") return { name: threadConversationName(id, thread.id), isListed: true };
    const event = await readEvent(
      definition,
      { ...incoming, thread },
      messengers.context(definition.id),
      LIMIT_MS,
    );
    const key = messageKeyOf(id, event);
    const known = key !== undefined && isAboutEarlier(event) ? this.#remembered.get(key) : undefined;
    if (known !== undefined) return { name: known, isListed: true };
    const { respondTo } = definition;
    if (!mayBeAnswered(event, { respondTo, hasCommand: (name) => this.#hasCommand(name) }))
      return { name: threadConversationName(id, incoming.thread.id), isListed: false };
    const target = await withinTime(deps.clock, LIMIT_MS, conversation(event), "conversation");
    const name = await classes.place(chosenConversation(target), id);
    if (key !== undefined) this.#remember(key, name);
    return { name, isListed: true };
  }

  #hasCommand(name: string): boolean {
    try {
      return this.#options.commands().some((command) => command.name === name);
    } catch {
      // The bot's code failed. The conversation asks it again, and logs the failure.
      return true;
    }
  }

  #remember(key: string, name: string): void {
    this.#remembered.set(key, name);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MOST_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

function isAboutEarlier({ kind }: MessengerEvent): boolean {
  return kind === "message-edited" || kind === "message-deleted";
}

function messageKeyOf(messengerId: string, { message, thread }: MessengerEvent): string | undefined {
  if (message === undefined || message.id === "") return undefined;
  return JSON.stringify([messengerId, thread.chatId, message.id]);
}
