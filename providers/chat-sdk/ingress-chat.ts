import { AsyncLocalStorage } from "node:async_hooks";
import { type Adapter, Chat, type ChatInstance, type Logger, type Message, type StateAdapter } from "chat";
import type { IncomingEvent } from "../../src/core/messenger.ts";
import { InvalidInputError } from "../../src/core/errors.ts";
import type { Clock } from "../../src/core/deps.ts";
import { createIncomingEvents, type IncomingEvents } from "./incoming-events.ts";

type MessageUpdate = Parameters<ChatInstance["processMessageUpdated"]>[0];
type MessageDelete = Parameters<ChatInstance["processMessageDeleted"]>[0];
type Action = Parameters<ChatInstance["processAction"]>[0];
type SlashCommand = Parameters<ChatInstance["processSlashCommand"]>[0];

/** One webhook on its way through an adapter. */
export interface Ingress {
  accept(events: readonly IncomingEvent[]): Promise<void>;
  ignore(kind: string): void;
  /** The storing of each event that the adapter reported. */
  readonly stores: Promise<void>[];
}

/**
 * A `Chat` that stores what an adapter reports instead of handling it. Each way in is taken over at its entry, before
 * the SDK's dedupe, locks, queue and routing by subscription, which may drop a message: so none is lost (I1), whatever
 * handlers and subscriptions there are.
 */
export class IngressChat extends Chat {
  readonly #current = new AsyncLocalStorage<Ingress>();
  readonly #events: IncomingEvents;

  constructor(config: {
    readonly adapter: Adapter;
    readonly userName: string;
    readonly state: StateAdapter;
    readonly logger: Logger;
    readonly clock: Clock;
  }) {
    const { adapter, userName, state, logger, clock } = config;
    super({ userName, state, logger, adapters: { [adapter.name]: adapter }, concurrency: "concurrent" });
    this.#events = createIncomingEvents(adapter, userName, clock);
  }

  /** Runs an adapter's handling of a request; what it reports meanwhile, and later from there, belongs to `ingress`. */
  within<Result>(ingress: Ingress, run: () => Promise<Result>): Promise<Result> {
    return this.#current.run(ingress, run);
  }

  override processMessage(
    _adapter: Adapter,
    threadId: string,
    message: Message | (() => Promise<Message>),
  ): Promise<void> {
    return this.#store(async () => this.#events.ofMessage(threadId, await resolve(message)));
  }

  override handleIncomingMessage(_adapter: Adapter, threadId: string, message: Message): Promise<void> {
    return this.#store(() => this.#events.ofMessage(threadId, message));
  }

  override processMessageUpdated(event: MessageUpdate): Promise<void> {
    return this.#store(async () => this.#events.ofEdit(event.threadId, await resolve(event.message)));
  }

  override processMessageDeleted(event: MessageDelete): Promise<void> {
    return this.#store(() => this.#events.ofDeletion(event.threadId, event.messageId, event.raw));
  }

  override processAction(event: Action): Promise<void> {
    return this.#store(() => this.#events.ofAction(event));
  }

  override processSlashCommand(event: SlashCommand): Promise<void> {
    return this.#store(() => this.#events.ofCommand(event));
  }

  override processReaction(): Promise<void> {
    this.#current.getStore()?.ignore("reaction");
    return Promise.resolve();
  }

  /** The task rejects when the event is not durable; the ingress answers 5xx then, also if the adapter hides it. */
  #store(read: () => Promise<IncomingEvent | undefined>): Promise<void> {
    const ingress = this.#current.getStore();
    const task = storeIn(ingress, read);
    // An adapter may drop the task; its failure is read from `stores`.
    task.catch(() => undefined);
    ingress?.stores.push(task);
    return task;
  }
}

async function storeIn(
  ingress: Ingress | undefined,
  read: () => Promise<IncomingEvent | undefined>,
): Promise<void> {
  if (ingress === undefined) {
    throw new InvalidInputError("chat-sdk-outside", "An adapter reported an event outside of a webhook.");
  }
  const event = await read();
  if (event === undefined) ingress.ignore("own message");
  else await ingress.accept([event]);
}

function resolve<Value extends object>(value: Value | (() => Promise<Value>)): Promise<Value> {
  return typeof value === "function" ? value() : Promise.resolve(value);
}
