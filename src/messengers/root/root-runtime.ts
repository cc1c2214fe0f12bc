import { failureFields } from "../../core/bot-code.ts";
import { failureCode } from "../../core/errors.ts";
import type { ChatMove } from "../../core/chat-move.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { BotIdentity, CommandEntry, IncomingEvent, PlatformContext } from "../../core/messenger.ts";
import type { Probing } from "../../core/surface.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import { withinTime } from "../../core/within-time.ts";
import { eventFields } from "../../core/log-fields.ts";
import { BotIdentities } from "./bot-identities.ts";
import { ChatAliases } from "./chat-aliases.ts";
import { chosenConversationName, threadConversationName } from "../declare/conversation-name.ts";
import type { HealthProblem } from "./health-problem.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { CommandMenu } from "./command-menu.ts";
import { PlatformAccess } from "./platform-access.ts";
import { createRootStore } from "./root-store.ts";
import type { DirectoryEntry, RootStore } from "./root-store.ts";
import { StorageHealth } from "./storage-health.ts";
import { TurnLimits } from "./turn-limits.ts";
import type { AskedQuestion } from "./turn-limits.ts";
import { problem } from "../../core/problem.ts";
import { admitWebhook, methodNotAllowed } from "./webhook.ts";

export interface RootRuntimeOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly definitions: () => readonly NormalizedMessengerDefinition[];
  /** Stores events in a conversation's inbox; resolves when they are durable. `""` is the root itself. */
  readonly deliver: (
    conversation: string,
    messengerId: string,
    events: readonly IncomingEvent[],
  ) => Promise<void>;
  /** Whether a conversation has stored an event. */
  readonly hasEvent: (conversation: string, messengerId: string, key: string) => Promise<boolean>;
  /** The commands that people can choose from. */
  readonly commands: () => readonly CommandEntry[];
  /** Runs work that nobody waits for. */
  readonly later: (work: () => Promise<void>) => void;
  /** Ids of messages that have come, where the platform numbers them. Never throws. */
  readonly observe: RootBudget["noteIncoming"];
}

/** Longest time that `conversation` of a messenger may take: a webhook waits for it, in milliseconds. */
const RESOLVER_LIMIT_MS = 10_000;

/** What became of an event that was handed to the root again. */
export type RouteResult =
  | { readonly kind: "delivered" }
  /** Which conversation it belongs to cannot be told now. */
  | { readonly kind: "unresolved"; readonly code: string };

/** The root: admits webhooks, finds the conversation of each event, and answers when the event is durable there. */
export class RootRuntime {
  readonly #options: RootRuntimeOptions;
  readonly #store: RootStore;
  readonly #menu: CommandMenu;
  readonly #storage: StorageHealth;
  /** Whether the platforms take the bot's credentials. */
  readonly access: PlatformAccess;
  readonly #limits: TurnLimits;
  readonly #identities: BotIdentities;
  readonly #aliases: ChatAliases;
  readonly #probing = new Map<string, Probing | undefined>();
  #definitions: readonly NormalizedMessengerDefinition[] | undefined;

  constructor(options: RootRuntimeOptions) {
    this.#options = options;
    this.#store = createRootStore(options.database);
    this.#storage = new StorageHealth({ clock: options.deps.clock, store: this.#store });
    this.access = new PlatformAccess({
      deps: options.deps,
      store: this.#store,
      context: (definition) => this.#context(definition),
    });
    this.#menu = new CommandMenu({
      ...options,
      store: this.#store,
      onAsked: (definition, error) => this.access.outcome(definition, error),
    });
    this.#aliases = new ChatAliases({ clock: options.deps.clock, store: this.#store });
    const context = (definition: NormalizedMessengerDefinition): PlatformContext => this.#context(definition);
    this.#identities = new BotIdentities({
      ...options,
      store: this.#store,
      context,
      onAsked: (definition, error) => this.access.outcome(definition, error),
    });
    this.#limits = new TurnLimits(options.database);
  }

  /** The answer to a messenger's webhook; `undefined` when the request is for somebody else. */
  async handle(request: Request): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const definition = this.#all().find((candidate) => candidate.path === pathname);
    if (definition === undefined) return undefined;
    try {
      const admitted = await admitWebhook(request, definition, this.#options.deps.clock);
      if (admitted instanceof Response) return admitted;
      if (admitted.method === "GET") return await this.#shakeHands(admitted, definition);
      return await definition.platform.receive(admitted, this.#context(definition), {
        accept: (events) => this.#acceptSafely(definition, events),
        ignore: (kind) => this.#store.countIgnored(definition.id, kind),
      });
    } catch (error) {
      // Nothing is answered 2xx that is not durable (I1): the platform sends it again.
      this.#options.log.error("webhook.failed", {
        messenger: definition.id,
        code: failureCode(error),
      });
      return problem(503, "not-stored", "The update could not be stored. Please send it again.", {
        "retry-after": "1",
      });
    }
  }

  async #shakeHands(request: Request, definition: NormalizedMessengerDefinition): Promise<Response> {
    const response = await definition.platform.handshake?.(request, this.#context(definition));
    return response ?? methodNotAllowed(definition);
  }

  /** Who the bot is. */
  async identity(messengerId: string): Promise<BotIdentity> {
    return this.#identities.of(this.#definition(messengerId));
  }

  /** A chat goes on under another id: its conversations do, too. */
  chatMoved(messengerId: string, move: ChatMove): void {
    this.#aliases.learn(messengerId, move);
  }

  /** Whether a person may ask for one more answer, in whatever conversation; then it counts. */
  takeQuestion(asked: AskedQuestion): boolean {
    return this.#limits.take(asked);
  }

  directory(limit = 100): DirectoryEntry[] {
    return this.#store.directory(limit);
  }

  /** How many updates of kinds that are not handled have come, by messenger and kind. */
  ignored(): Readonly<Record<string, number>> {
    return this.#store.ignored();
  }

  async #acceptSafely(
    definition: NormalizedMessengerDefinition,
    events: readonly IncomingEvent[],
  ): Promise<void> {
    try {
      await this.#accept(definition, events);
      this.#storage.worked();
    } catch (error) {
      this.#storage.failed(error);
      throw error;
    }
  }

  async #accept(definition: NormalizedMessengerDefinition, events: readonly IncomingEvent[]): Promise<void> {
    this.#observe(definition, events);
    for (const { move } of events) if (move !== undefined) this.chatMoved(definition.id, move);
    const byConversation = new Map<string, IncomingEvent[]>();
    /** Objects that are no conversations of the directory. */
    const unlisted = new Set<string>();
    for (const event of events) {
      const twin = await this.#twinWith(definition, event);
      if (twin !== undefined) unlisted.add(twin);
      const resolving = twin ?? this.#conversationOf(definition, event);
      const name = await Promise.resolve(resolving).catch((error: unknown) => {
        this.#logUnresolved(definition, event, error);
        const place = threadConversationName(definition.id, event.thread.id);
        unlisted.add(place);
        return place;
      });
      if (event.isCardPress === true || event.isOfChat === true) unlisted.add(name);
      byConversation.set(name, [...(byConversation.get(name) ?? []), this.#withMove(definition, event)]);
    }
    const delivered = Promise.all(
      [...byConversation].map(([name, group]) => this.#options.deliver(name, definition.id, group)),
    );
    // Beside the delivery: the answer does not wait for one commit after the other.
    for (const [name, [first]] of byConversation) {
      if (first !== undefined && !unlisted.has(name)) this.#touch(name, definition, first);
    }
    await delivered;
    this.#tellMenu(definition);
  }

  /**
   * Why no message could be stored, or answered. A bot without a problem has its menu of commands told, so that it is
   * there before the first message.
   */
  async problem(): Promise<HealthProblem | undefined> {
    const problem = this.#storage.problem() ?? (await this.access.problem(this.#all()));
    if (problem === undefined) this.tellMenus();
    return problem;
  }

  /** Has each platform told which commands there are, if it does not know. Nobody waits for it. */
  tellMenus(): void {
    for (const definition of this.#all()) this.#tellMenu(definition);
  }

  #tellMenu(definition: NormalizedMessengerDefinition): void {
    if (this.#menu.isDue(definition))
      this.#options.later(() => this.#menu.tell(definition, this.#context(definition)));
  }

  /**
   * Hands an event to its conversation, which could not be told at its webhook. Such events wait in the object of their
   * thread, which a bot with a resolver uses for nothing else; it asks here again and again.
   */
  async route(messengerId: string, event: IncomingEvent): Promise<RouteResult> {
    const definition = this.#definition(messengerId);
    let name: string;
    try {
      name = await this.#conversationOf(definition, event);
    } catch (error) {
      return { kind: "unresolved", code: failureCode(error) };
    }
    await this.#options.deliver(name, messengerId, [this.#withMove(definition, event)]);
    this.#touch(name, definition, event);
    return { kind: "delivered" };
  }

  /**
   * The conversation that has stored an event of a chat that has moved before that was known: a redelivery has to end
   * there, too (I2).
   */
  async #twinWith(
    { conversation, id }: NormalizedMessengerDefinition,
    { key, thread }: IncomingEvent,
  ): Promise<string | undefined> {
    const twin = conversation === "thread" ? this.#aliases.twinOf(id, thread) : undefined;
    return twin !== undefined && (await this.#options.hasEvent(twin, id, key)) ? twin : undefined;
  }

  #withMove({ id }: NormalizedMessengerDefinition, event: IncomingEvent): IncomingEvent {
    // The gate of a chat goes by the chat's own id.
    if (event.isCardPress === true) return event;
    const move = this.#aliases.moveOf(id, event.thread);
    return move === undefined ? event : { ...event, move };
  }

  #touch(name: string, { id }: NormalizedMessengerDefinition, { thread }: IncomingEvent): void {
    try {
      this.#store.touch(name, id, thread, this.#options.deps.clock.now());
    } catch (error) {
      // The directory is written again with the conversation's next message.
      this.#options.log.error("directory.not-written", { code: failureCode(error) });
    }
  }

  #logUnresolved({ id }: NormalizedMessengerDefinition, event: IncomingEvent, error: unknown): void {
    const fields = { ...eventFields(id, event), ...failureFields(this.#options.log, error) };
    this.#options.log.error("conversation.unresolved", fields);
  }

  /** In memory only: it costs no row. */
  #observe(definition: NormalizedMessengerDefinition, events: readonly IncomingEvent[]): void {
    const { id: messengerId, platform } = definition;
    for (const { messageId, thread } of events) {
      if (messageId === undefined) continue;
      if (!this.#probing.has(messengerId)) {
        this.#probing.set(messengerId, platform.surface(this.#context(definition)).probing);
      }
      const { chatId, isDirectMessage } = thread;
      const box = this.#probing.get(messengerId)?.box({
        messengerId,
        threadId: thread.id,
        chatId,
        isDirectMessage,
      });
      if (box !== undefined) this.#options.observe(messengerId, box, box !== chatId, [Number(messageId)]);
    }
  }

  async #conversationOf(definition: NormalizedMessengerDefinition, incoming: IncomingEvent): Promise<string> {
    const { conversation, platform } = definition;
    if (incoming.isCardPress === true) {
      return threadConversationName(definition.id, platform.chatThreadId(incoming.thread.chatId));
    }
    const thread = this.#aliases.firstThread(definition.id, incoming.thread);
    if (incoming.isOfChat === true)
      return threadConversationName(definition.id, platform.chatThreadId(thread.chatId));
    if (conversation === "self") return "";
    if (conversation === "thread") return threadConversationName(definition.id, thread.id);
    const event = await definition.platform.parse({ ...incoming, thread }, this.#context(definition));
    const resolving = Promise.resolve(conversation(event));
    const target = await withinTime(this.#options.deps.clock, RESOLVER_LIMIT_MS, resolving, "conversation");
    return target.target === "self" ? "" : chosenConversationName(target);
  }

  #context(definition: NormalizedMessengerDefinition): PlatformContext {
    const { deps, log } = this.#options;
    return {
      messengerId: definition.id,
      deps,
      log: log.with({ messenger: definition.id }),
      identity: () => this.identity(definition.id),
    };
  }

  #definition(messengerId: string): NormalizedMessengerDefinition {
    const definition = this.#all().find((candidate) => candidate.id === messengerId);
    if (definition !== undefined) return definition;
    throw new Error(`The messenger "${messengerId}" is not declared`);
  }

  #all(): readonly NormalizedMessengerDefinition[] {
    this.#definitions ??= this.#options.definitions();
    return this.#definitions;
  }
}
