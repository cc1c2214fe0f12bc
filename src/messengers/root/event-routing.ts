import { failureFields } from "../../core/time/bot-code.ts";
import { failureCode } from "../../core/base/errors.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { IncomingEvent } from "../../core/chat/messenger.ts";
import { parseObjectAddress, threadConversationName } from "../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import type { ConversationResolver, Resolved } from "./conversation-resolver.ts";
import type { RouteResult } from "./root-link.ts";
import type { RootParts } from "./root-parts.ts";

interface EventRoutingParts extends RootParts {
  readonly conversations: ConversationResolver;
}

/**
 * Passes each event to the object that answers it, and notes chats and conversations in the directories of the root.
 *
 * 1. `deliver` resolves when all events are durable in their objects (I1).
 * 2. An event that is delivered again goes to the object that has stored it (I2).
 * 3. An event whose conversation cannot be told waits in the object of its thread.
 * 4. A failure to write a directory loses no event: the next event writes it again.
 */
export class EventRouting {
  readonly #options: EventRoutingParts;

  constructor(options: EventRoutingParts) {
    this.#options = options;
  }

  /** Stores the events of a webhook in the objects that answer them. */
  async deliver(definition: NormalizedMessengerDefinition, events: readonly IncomingEvent[]): Promise<void> {
    const byConversation = new Map<string, IncomingEvent[]>();
    /** Objects that are not conversations of the directory. */
    const unlisted = new Set<string>();
    for (const event of events) {
      const { isListed, name } = await this.#conversationOf(definition, event);
      if (!isListed) unlisted.add(name);
      byConversation.set(name, [...(byConversation.get(name) ?? []), this.#withMove(definition, event)]);
    }
    const delivered = Promise.all(
      [...byConversation].map(([name, group]) => this.#options.deliver(name, definition.id, group)),
    );
    // Written at the same time as the events are stored, so that the answer does not wait for two commits in a row.
    for (const [name, [first]] of byConversation) {
      if (first !== undefined && !unlisted.has(name)) this.#touch(name, definition, first);
    }
    // Events of the chat itself do not go into the directory.
    for (const event of events) if (event.isOfChat !== true) this.#observeChat(definition, event);
    await delivered;
  }

  /**
   * Routes an event whose conversation could not be determined at its webhook. Such events wait in the object of their
   * thread, which a bot with a `conversation` function uses for nothing else. That object calls this again and again.
   */
  async route(messengerId: string, event: IncomingEvent): Promise<RouteResult> {
    const { conversations, deliver, messengers } = this.#options;
    const definition = messengers.get(messengerId);
    let resolved: Resolved;
    try {
      resolved = await conversations.of(definition, event);
    } catch (error) {
      return { kind: "unresolved", code: failureCode(error) };
    }
    const { isListed, name } = resolved;
    if (!isListed) return { kind: "not-answered" };
    await deliver(name, messengerId, [this.#withMove(definition, event)]);
    this.#touch(name, definition, event);
    return { kind: "delivered" };
  }

  async #conversationOf(
    definition: NormalizedMessengerDefinition,
    incoming: IncomingEvent,
  ): Promise<Resolved> {
    if (incoming.isCardPress === true || incoming.isOfChat === true) {
      const gateThread = definition.platform.chatThreadId(incoming.thread.chatId);
      return { name: threadConversationName(definition.id, gateThread), isListed: false };
    }
    const twin = await this.#twinWith(definition, incoming);
    if (twin !== undefined) return { name: twin, isListed: false };
    try {
      return await this.#options.conversations.of(definition, incoming);
    } catch (error) {
      const { log } = this.#options;
      const fields = { ...eventFields(definition.id, incoming), ...failureFields(log, error) };
      log.error("conversation.unresolved", fields);
      return { name: threadConversationName(definition.id, incoming.thread.id), isListed: false };
    }
  }

  /**
   * Returns the conversation that stored an event of a moved chat before the move was known. A redelivery must go
   * there, too (I2).
   */
  async #twinWith(
    { conversation, id }: NormalizedMessengerDefinition,
    { key, thread }: IncomingEvent,
  ): Promise<string | undefined> {
    const { aliases, hasEvent } = this.#options;
    const twin = conversation === "thread" ? aliases.twinOf(id, thread) : undefined;
    return twin !== undefined && (await hasEvent(twin, id, key)) ? twin : undefined;
  }

  #withMove({ id }: NormalizedMessengerDefinition, event: IncomingEvent): IncomingEvent {
    // The gate of a chat is found by the chat's own id.
    if (event.isCardPress === true || event.isOfChat === true) return event;
    const move = this.#options.aliases.moveOf(id, event.thread);
    return move === undefined ? event : { ...event, move };
  }

  /** Notes the conversation in the directory. Its next message does so again. */
  #touch(name: string, { id }: NormalizedMessengerDefinition, { thread }: IncomingEvent): void {
    const { deps, store } = this.#options;
    this.#note(() => store.touch(parseObjectAddress(name).conversation, id, thread, deps.clock.now()));
  }

  /** Notes the chat in the directory. Its next event does so again. */
  #observeChat(definition: NormalizedMessengerDefinition, event: IncomingEvent): void {
    this.#note(() => this.#options.chats.observe(definition, event));
  }

  #note(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.error("directory.not-written", { code: failureCode(error) });
    }
  }
}
