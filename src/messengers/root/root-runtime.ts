import { failureFields } from "../../core/bot-code.ts";
import { failureCode } from "../../core/errors.ts";
import type { ChatFilter, ChatPage } from "../../core/chat.ts";
import type { ChatTarget, Resolution } from "../../core/chat-target.ts";
import type { ChatMove } from "../../core/chat-move.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Note } from "../../core/figures.ts";
import type { Log } from "../../core/log.ts";
import type { BotIdentity, CommandEntry, IncomingEvent, MessengerFacts } from "../../core/messenger.ts";
import type { Probing, Surface } from "../../core/surface.ts";
import type { BotFileIds } from "../../core/sent-file.ts";
import { createBotFileIds } from "../../../delivery/index.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { TokenUsageEntry, UsageFilter, UsedTokens } from "../../core/used-tokens.ts";
import { BotIdentities } from "./bot-identities.ts";
import { ChatAliases } from "./chat-aliases.ts";
import { ChatDirectory } from "./chat-directory.ts";
import { createChatStore } from "./chat-store.ts";
import { ConversationResolver } from "./conversation-resolver.ts";
import type { Resolved } from "./conversation-resolver.ts";
import { threadConversationName } from "../declare/conversation-name.ts";
import type { HealthProblem, HealthWarning } from "./health-problem.ts";
import { HealthWarnings } from "./health-warnings.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { CommandMenu } from "./command-menu.ts";
import { PlatformAccess } from "./platform-access.ts";
import type { RouteResult } from "./root-link.ts";
import { createRootStore } from "./root-store.ts";
import type { DirectoryEntry, RootStore } from "./root-store.ts";
import { StorageHealth } from "./storage-health.ts";
import { TargetPlaces } from "./target-places.ts";
import { Targets } from "./targets.ts";
import { createTokenUsageStore } from "./token-usage-store.ts";
import type { TokenUsageStore } from "./token-usage-store.ts";
import { TurnLimits } from "./turn-limits.ts";
import type { AskedQuestion } from "./turn-limits.ts";
import { problem } from "../../core/problem.ts";
import { admitWebhook, methodNotAllowed } from "./webhook.ts";

export interface RootRuntimeOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly messengers: DeclaredMessengers;
  /** Stores events in a conversation's inbox. Resolves when they are durable. `""` is the root itself. */
  readonly deliver: (
    conversation: string,
    messengerId: string,
    events: readonly IncomingEvent[],
  ) => Promise<void>;
  /** Tells whether a conversation has stored an event. */
  readonly hasEvent: (conversation: string, messengerId: string, key: string) => Promise<boolean>;
  /** Returns the commands for the menu. */
  readonly commands: () => readonly CommandEntry[];
  /** Runs work in the background. */
  readonly later: (work: () => Promise<void>) => void;
  /** Notes the ids of incoming messages, if the platform numbers them. Never throws. */
  readonly observe: RootBudget["noteIncoming"];
  /** Called when a chat continues under another id. */
  readonly onMoved?: (messengerId: string, move: ChatMove) => void;
}

/**
 * The root: checks webhooks, finds the conversation of each event, and answers when the event is durable there (I1). It
 * parses and answers no message; that is the conversation's part.
 */
export class RootRuntime {
  readonly #options: RootRuntimeOptions;
  readonly #messengers: DeclaredMessengers;
  readonly #store: RootStore;
  readonly #menu: CommandMenu;
  readonly #storage: StorageHealth;
  readonly #warnings: HealthWarnings;
  /** Whether the platforms accept the bot's credentials. */
  readonly access: PlatformAccess;
  readonly #limits: TurnLimits;
  readonly #tokens: TokenUsageStore;
  readonly #identities: BotIdentities;
  readonly #aliases: ChatAliases;
  readonly #conversations: ConversationResolver;
  readonly #chats: ChatDirectory;
  readonly #targets: Targets;
  /** Finds the conversations that answer in chats. */
  readonly places: TargetPlaces;
  readonly fileIds: BotFileIds;
  readonly #probing = new Map<string, Probing | undefined>();

  constructor(options: RootRuntimeOptions) {
    this.#options = options;
    this.#messengers = options.messengers;
    this.#store = createRootStore(options.database);
    this.fileIds = createBotFileIds(options);
    this.#storage = new StorageHealth({ clock: options.deps.clock, store: this.#store });
    this.access = new PlatformAccess({ ...options, store: this.#store });
    this.#warnings = new HealthWarnings(options);
    this.#menu = new CommandMenu({
      ...options,
      store: this.#store,
      onAsked: (definition, error) => this.access.outcome(definition, error),
    });
    this.#aliases = new ChatAliases({ clock: options.deps.clock, store: this.#store });
    this.#chats = new ChatDirectory({
      clock: options.deps.clock,
      store: createChatStore(options.database),
      aliases: this.#aliases,
    });
    this.#targets = new Targets({
      aliases: this.#aliases,
      chats: this.#chats,
      store: this.#store,
      messengers: options.messengers,
    });
    this.places = new TargetPlaces({
      aliases: this.#aliases,
      chats: this.#chats,
      store: this.#store,
      targets: this.#targets,
      messengers: options.messengers,
    });
    this.#conversations = new ConversationResolver({
      clock: options.deps.clock,
      aliases: this.#aliases,
      messengers: options.messengers,
      commands: options.commands,
    });
    this.#identities = new BotIdentities({
      ...options,
      store: this.#store,
      onAsked: (definition, error) => this.access.outcome(definition, error),
    });
    this.#tokens = createTokenUsageStore(options.database);
    this.#limits = new TurnLimits(options.database, this.#tokens);
  }

  /** Answers a messenger's webhook. Returns undefined if the request is not for a messenger. */
  async handle(request: Request): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const definition = this.#messengers.all().find((candidate) => candidate.path === pathname);
    if (definition === undefined) return undefined;
    try {
      const admitted = await admitWebhook(request, definition, this.#options.deps.clock);
      if (admitted instanceof Response) return admitted;
      if (admitted.method === "GET") return await this.#shakeHands(admitted, definition);
      return await definition.platform.receive(admitted, this.#messengers.context(definition.id), {
        accept: (events) => this.#acceptSafely(definition, events),
        ignore: (kind) => this.#store.countIgnored(definition.id, kind),
      });
    } catch (error) {
      // An event that is not stored is never answered 2xx (I1). The platform sends it again.
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
    const response = await definition.platform.handshake?.(request, this.#messengers.context(definition.id));
    return response ?? methodNotAllowed(definition);
  }

  /** Returns the bot's identity. */
  async identity(messengerId: string): Promise<BotIdentity> {
    return this.#identities.of(this.#messengers.get(messengerId));
  }

  /** Notes that a chat continues under another id, and so do its conversations. */
  chatMoved(messengerId: string, move: ChatMove): void {
    if (!this.#aliases.learn(messengerId, move)) return;
    this.#chats.moved(messengerId, move.from.chatId, move.to.chatId);
    this.#options.onMoved?.(messengerId, move);
  }

  /** Returns the surface of a messenger. */
  surface(messengerId: string): Surface {
    return this.#messengers.surface(messengerId);
  }

  /** A conversation was refused a call to a chat, at this time: the bot cannot write there any more. */
  chatGone(messengerId: string, chatId: string, code: string, at: number): void {
    this.#chats.gone(messengerId, chatId, code, at);
  }

  /** Returns the title of a chat. Undefined if it has none, or the bot was not seen there. */
  titleOf(messengerId: string, chatId: string): string | undefined {
    return this.#chats.find({ messengerId, chatId })?.title;
  }

  /** Returns the title of the chat in which a conversation was last written to. */
  titleOfConversation(name: string): string | undefined {
    return this.#store.titleOf(name);
  }

  resolveTarget(to: ChatTarget): Resolution {
    return this.#targets.resolve(to);
  }

  /** @throws {InvalidInputError} `chat-filter-invalid` */
  listChats(filter: ChatFilter): ChatPage {
    return this.#chats.list(filter);
  }

  /** Stores the tokens of a turn. A report that comes again counts once. */
  noteUsage(used: UsedTokens, keepMs: number): void {
    this.#tokens.add(used, this.#options.deps.clock.now() - keepMs);
  }

  usage(filter: UsageFilter): TokenUsageEntry[] {
    return this.#tokens.sum(filter);
  }

  /** Tells whether a person may ask for one more answer, in any conversation. If so, it is counted. */
  takeQuestion(asked: AskedQuestion): boolean {
    return this.#limits.take(asked);
  }

  /** Returns what an operator should look at. `notes` are those of the whole bot. */
  warnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
    return this.#warnings.list(this.#messengers.all(), notes);
  }

  /** Returns the size of the directories. */
  counts(): { readonly conversations: number; readonly chats: number } {
    return { conversations: this.#store.countConversations(), chats: this.#chats.count() };
  }

  /** Describes the messengers to the operator. */
  messengers(): MessengerFacts[] {
    return this.#messengers.all().map(({ id, path, platform: { provider, wantedUpdates } }) => ({
      id,
      provider,
      path,
      ...(wantedUpdates !== undefined && { updates: wantedUpdates }),
      commands: this.#options.commands().map(({ name, description }) => ({ name, description })),
    }));
  }

  directory(limit = 100): DirectoryEntry[] {
    return this.#store.directory(limit);
  }

  /** Returns the number of ignored updates, by messenger and kind. */
  ignored(): Readonly<Record<string, number>> {
    return this.#store.ignored();
  }

  async #acceptSafely(
    definition: NormalizedMessengerDefinition,
    events: readonly IncomingEvent[],
  ): Promise<void> {
    try {
      await this.#accept(definition, events);
      this.#warnings.received();
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
    this.#tellMenu(definition);
  }

  /**
   * Returns the reason why no message can be stored or answered. If there is none, the menu of commands is sent, so
   * that it is there before the first message.
   */
  async problem(): Promise<HealthProblem | undefined> {
    const problem = this.#storage.problem() ?? (await this.access.problem(this.#messengers.all()));
    if (problem === undefined) this.tellMenus();
    return problem;
  }

  /** Sends the menu of commands to each platform that does not know it, in the background. */
  tellMenus(): void {
    for (const definition of this.#messengers.all()) this.#tellMenu(definition);
  }

  #tellMenu(definition: NormalizedMessengerDefinition): void {
    if (this.#menu.isDue(definition))
      this.#options.later(() => this.#menu.tell(definition, this.#messengers.context(definition.id)));
  }

  /**
   * Routes an event whose conversation could not be determined at its webhook. Such events wait in the object of their
   * thread, which a bot with a `conversation` function uses for nothing else. That object calls this again and again.
   */
  async route(messengerId: string, event: IncomingEvent): Promise<RouteResult> {
    const definition = this.#messengers.get(messengerId);
    let resolved: Resolved;
    try {
      resolved = await this.#conversations.of(definition, event);
    } catch (error) {
      return { kind: "unresolved", code: failureCode(error) };
    }
    const { isListed, name } = resolved;
    if (!isListed) return { kind: "not-answered" };
    await this.#options.deliver(name, messengerId, [this.#withMove(definition, event)]);
    this.#touch(name, definition, event);
    return { kind: "delivered" };
  }

  /**
   * Returns the conversation that stored an event of a moved chat before the move was known. A redelivery must go
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
    // The gate of a chat is found by the chat's own id.
    if (event.isCardPress === true || event.isOfChat === true) return event;
    const move = this.#aliases.moveOf(id, event.thread);
    return move === undefined ? event : { ...event, move };
  }

  #touch(name: string, { id }: NormalizedMessengerDefinition, { thread }: IncomingEvent): void {
    try {
      this.#store.touch(name, id, thread, this.#options.deps.clock.now());
    } catch (error) {
      // The conversation's next message writes the directory again.
      this.#options.log.error("directory.not-written", { code: failureCode(error) });
    }
  }

  #observeChat(definition: NormalizedMessengerDefinition, event: IncomingEvent): void {
    try {
      this.#chats.observe(definition, event);
    } catch (error) {
      // The chat's next event writes it again.
      this.#options.log.error("directory.not-written", { code: failureCode(error) });
    }
  }

  #logUnresolved({ id }: NormalizedMessengerDefinition, event: IncomingEvent, error: unknown): void {
    const fields = { ...eventFields(id, event), ...failureFields(this.#options.log, error) };
    this.#options.log.error("conversation.unresolved", fields);
  }

  /** Notes incoming message ids. In memory only, so it writes no row. */
  #observe(definition: NormalizedMessengerDefinition, events: readonly IncomingEvent[]): void {
    const { id: messengerId } = definition;
    for (const { messageId, thread } of events) {
      if (messageId === undefined) continue;
      if (!this.#probing.has(messengerId)) {
        this.#probing.set(messengerId, this.#messengers.surface(messengerId).probing);
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

  /** If the conversation cannot be told, the event waits in the object of its thread. */
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
      return await this.#conversations.of(definition, incoming);
    } catch (error) {
      this.#logUnresolved(definition, incoming, error);
      return { name: threadConversationName(definition.id, incoming.thread.id), isListed: false };
    }
  }
}
