import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Adapter,
  Chat,
  type ChatInstance,
  type Logger,
  type Message,
  type StateAdapter,
  type WebhookOptions,
} from "chat";
import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import { InvalidInputError } from "../../../src/core/base/errors.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import {
  type Incoming,
  type IncomingEvents,
  type SdkUpdate,
  createIncomingEvents,
} from "./incoming-events.ts";
import { OWN_EVENT } from "./updates.ts";
import type { ChatSdkUpdateKind } from "./updates.ts";
import type { Installations } from "../state/installations.ts";
import type { FindChat } from "../newest-addresses.ts";
import { stateOfCall, withState } from "../state/state-of-call.ts";

type EventOf<Method extends keyof ChatInstance> = Parameters<Extract<ChatInstance[Method], Function>>[0];

type EntryPoint = Extract<keyof Chat, `process${string}`>;

/**
 * Events that only the bot's own code handles, in plain words. The compiler reports one that is neither here nor handled
 * below.
 */
const UPDATES: Readonly<
  Record<
    Exclude<
      EntryPoint,
      | "processMessage"
      | "processMessageUpdated"
      | "processMessageDeleted"
      | "processAction"
      | "processSlashCommand"
      | "processReaction"
      | "processOptionsLoad"
    >,
    ChatSdkUpdateKind
  >
> = {
  processModalSubmit: "modal submitted",
  processModalClose: "modal closed",
  processAssistantThreadStarted: "assistant thread started",
  processAssistantContextChanged: "assistant context changed",
  processAgentSessionStopped: "agent session stopped",
  processAgentSessionTitleChanged: "agent session title changed",
  processAppHomeOpened: "app home opened",
  processAppContextChanged: "app context changed",
  processInstalled: "bot installed",
  processUninstalled: "bot uninstalled",
  processMemberJoinedChannel: "member joined",
};

/**
 * - `stop`: it stops the running answer.
 * - `edited`, `deleted`: the new text of an earlier message, and the message that was deleted.
 */
export type MessageKind = "new" | "stop" | "edited" | "deleted";

/** One webhook on its way through an adapter. */
export interface Ingress {
  accept(events: readonly IncomingEvent[]): Promise<void>;
  /** Reports an event that starts nothing. `kind` names it in plain words, without its content. */
  ignore(kind: string, threadId?: string): void;
  /** Reports an event that could not be stored. */
  fail(error: unknown): void;
  readonly findChat: FindChat;
  /** Tells what the message of this webhook is. Asked when the adapter has verified it. @default a new message */
  readonly messageKind?: () => MessageKind;
  /** One promise for each event that the adapter reported, in order. It resolves when the event is stored. */
  readonly stores: Promise<void>[];
}

/**
 * The webhook that the running code belongs to. All instances share this store: an adapter used by several objects
 * reports to the instance that initialized it last, even if another one has the webhook.
 */
const current = new AsyncLocalStorage<Ingress>();

/**
 * A `Chat` that stores the events of an adapter instead of handling them. It overrides every entry point, before the
 * SDK's deduplication, locks, queue and routing, which may drop a message.
 *
 * - I1: each event is one promise in `stores`. The webhook is answered when all of them are durable.
 * - Adapters can rely on the SDK's contract: `options.waitUntil` gets the work of every event. An adapter may wait for
 *   it before it answers, as the Teams adapter does.
 * - Events are accepted in the order in which the adapter reports them (I3).
 */
export class IngressChat extends Chat {
  readonly #events: IncomingEvents;
  readonly #ownState: StateAdapter;
  readonly #onOutside: (error: unknown) => void;
  readonly #takesReactions: boolean;
  readonly #installations: Pick<Installations, "current" | "note">;

  constructor(config: {
    readonly adapter: Adapter;
    readonly userName: string;
    readonly state: StateAdapter;
    readonly logger: Logger;
    readonly clock: Clock;
    /** Whether the bot has code for reactions. */
    readonly takesReactions: boolean;
    /** Whether the bot has code for updates. */
    readonly takesUpdates: boolean;
    readonly installations: Pick<Installations, "current" | "note">;
    /** Returns the id by which the bot knows a thread. */
    readonly firstId: (threadId: string, raw: unknown, findChat: FindChat) => Promise<string>;
    /** Called for an event that arrives outside a webhook and therefore cannot be stored. */
    readonly onOutside: (error: unknown) => void;
  }) {
    const { adapter, userName, state, logger, clock, firstId, installations, onOutside } = config;
    const { takesReactions, takesUpdates } = config;
    super({
      userName,
      state: stateOfCall(state),
      logger,
      adapters: { [adapter.name]: adapter },
      concurrency: "concurrent",
    });
    this.#ownState = state;
    this.#events = createIncomingEvents(adapter, userName, clock, async (threadId, raw) => {
      const ingress = current.getStore();
      return ingress === undefined ? threadId : firstId(threadId, raw, ingress.findChat);
    });
    this.#onOutside = onOutside;
    this.#installations = installations;
    this.#takesReactions = takesReactions;
    for (const [name, kind] of Object.entries(UPDATES))
      Object.defineProperty(this, name, {
        value: (event: SdkUpdate, ...rest: readonly (WebhookOptions | string | undefined)[]) => {
          const options = rest.find((one) => typeof one === "object");
          return takesUpdates
            ? this.#store(() => this.#events.ofUpdate(kind, event), options)
            : this.#ignore(kind, event.threadId ?? event.channelId, options);
        },
      });
  }

  /** Runs an adapter's handling of a request. Its events belong to `ingress`, even those reported later. */
  within<Result>(ingress: Ingress, run: () => Promise<Result>): Promise<Result> {
    return withState(this.#ownState, () => current.run(ingress, run));
  }

  /** Reports that something went wrong which an adapter may hide. The platform then sends the webhook again. */
  failed(reason: unknown): void {
    const failure = Promise.reject(reason);
    failure.catch(() => undefined);
    current.getStore()?.stores.push(failure);
  }

  override processMessage(
    _adapter: Adapter,
    threadId: string,
    message: Message | (() => Promise<Message>),
    options?: WebhookOptions,
  ): Promise<void> {
    const { messageKind } = current.getStore() ?? {};
    return this.#store(async () => {
      const read = await resolve(message);
      const { author: user, id, raw } = read;
      const kind = messageKind?.() ?? "new";
      switch (kind) {
        case "new":
          return this.#events.ofMessage(threadId, read);
        case "edited":
          return this.#events.ofEdit(threadId, read);
        case "deleted":
          return this.#events.ofDeletion(threadId, id, raw);
        case "stop":
          return this.#events.ofCommand({
            command: "/stop",
            text: "",
            channelId: threadId,
            user,
            triggerId: id,
            raw,
          });
        default:
          return kind satisfies never;
      }
    }, options);
  }

  override handleIncomingMessage(_adapter: Adapter, threadId: string, message: Message): Promise<void> {
    return this.#store(() => this.#events.ofMessage(threadId, message));
  }

  override processMessageUpdated(
    event: EventOf<"processMessageUpdated">,
    options?: WebhookOptions,
  ): Promise<void> {
    return this.#store(
      async () => this.#events.ofEdit(event.threadId, await resolve(event.message)),
      options,
    );
  }

  override processMessageDeleted(
    event: EventOf<"processMessageDeleted">,
    options?: WebhookOptions,
  ): Promise<void> {
    return this.#store(() => this.#events.ofDeletion(event.threadId, event.messageId, event.raw), options);
  }

  override processAction(event: EventOf<"processAction">, options?: WebhookOptions): Promise<void> {
    return this.#store(() => this.#events.ofAction(event), options);
  }

  override processSlashCommand(
    event: EventOf<"processSlashCommand">,
    options?: WebhookOptions,
  ): Promise<void> {
    return this.#store(() => this.#events.ofCommand(event), options);
  }

  override processReaction(event: EventOf<"processReaction">, options?: WebhookOptions): Promise<void> {
    return this.#takesReactions
      ? this.#store(() => this.#events.ofReaction(event), options)
      : this.#ignore("reaction", event.threadId, options);
  }

  /** Stores an event that only the platform's own code handles. */
  processOwn(threadId: string, raw: unknown): Promise<void> {
    return this.#store(() => this.#events.ofUpdate(OWN_EVENT, { threadId, raw }));
  }

  /** Bot code could not answer in time: events are handled after their webhook. */
  override async processOptionsLoad(
    _event: EventOf<"processOptionsLoad">,
    options?: WebhookOptions,
  ): Promise<undefined> {
    await this.#ignore("options of a menu", undefined, options);
  }

  #ignore(ignored: string, threadId: string | undefined, options?: WebhookOptions): Promise<void> {
    return this.#store(async () => ({ ignored, threadId }), options);
  }

  /**
   * Stores an event. The promise rejects if the event is not durable; the ingress then answers 5xx, even if the adapter
   * hides the error.
   */
  #store(read: () => Promise<Incoming>, options?: WebhookOptions): Promise<void> {
    const ingress = current.getStore();
    const installation = this.#installations.current();
    const task = storeIn(ingress, async () => {
      const incoming = await read();
      if (installation !== undefined && !("ignored" in incoming))
        await this.#installations.note(incoming.thread.chatId, installation);
      return incoming;
    });
    const settled = task.catch((error: unknown) => {
      if (ingress === undefined) this.#onOutside(error);
      else ingress.fail(error);
    });
    ingress?.stores.push(task);
    options?.waitUntil?.(options.propagateHandlerErrors === true ? task : settled);
    return task;
  }
}

async function storeIn(ingress: Ingress | undefined, read: () => Promise<Incoming>): Promise<void> {
  if (ingress === undefined) {
    throw new InvalidInputError("chat-sdk-outside", "An adapter reported an event outside of a webhook.");
  }
  const before = ingress.stores.at(-1);
  const incoming = await read();
  if ("ignored" in incoming) {
    ingress.ignore(incoming.ignored, incoming.threadId);
    return;
  }
  await before?.catch(() => undefined);
  await ingress.accept([incoming]);
}

function resolve<Value extends object>(value: Value | (() => Promise<Value>)): Promise<Value> {
  return typeof value === "function" ? value() : Promise.resolve(value);
}
