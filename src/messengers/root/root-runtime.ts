import { failureCode } from "../../core/base/errors.ts";
import type { ChatFilter, ChatPage } from "../../core/chat/chat.ts";
import type { ChatTarget, Resolution } from "../../core/chat/chat-target.ts";
import type { BroadcastTarget, PlacedTarget } from "../../core/turn/broadcast.ts";
import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { Note } from "../../core/chat/figures.ts";
import type { BotIdentity, IncomingEvent, MessengerFacts } from "../../core/chat/messenger.ts";
import type { BotFileIds, SentFile } from "../../../delivery/index.ts";
import { createBotFileIds } from "../../../delivery/index.ts";
import type { TokenUsageEntry, UsageFilter, UsedTokens } from "../../core/turn/used-tokens.ts";
import { BotIdentities } from "./bot-identities.ts";
import { parseObjectAddress } from "../declare/conversation-name.ts";
import { ChatAliases } from "./chats/chat-aliases.ts";
import { ChatDirectory } from "./chats/chat-directory.ts";
import { createChatStore } from "./chats/chat-store.ts";
import { ConversationClasses } from "./conversation-classes.ts";
import { createConversationClassStore } from "./conversation-class-store.ts";
import { ConversationResolver } from "./conversation-resolver.ts";
import { EventRouting } from "./event-routing.ts";
import type { HealthProblem, HealthWarning } from "./health/health-problem.ts";
import { HealthWarnings, leftOutWarning } from "./health/health-warnings.ts";
import { IncomingIds } from "./incoming-ids.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { LeftOutMessenger, NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { CommandMenu } from "./command-menu.ts";
import { PlatformAccess } from "./platform-access.ts";
import type { RootCalls, RouteResult } from "./root-link.ts";
import { createRootStore } from "./root-store.ts";
import type { DirectoryEntry, RootStore } from "./root-store.ts";
import { StorageHealth } from "./health/storage-health.ts";
import { TargetPlaces } from "./chats/target-places.ts";
import { Targets } from "./chats/targets.ts";
import { createTokenUsageStore } from "./token-usage-store.ts";
import type { TokenUsageStore } from "./token-usage-store.ts";
import { TurnLimits } from "./turn-limits.ts";
import type { AskedQuestion } from "./turn-limits.ts";
import { problem } from "../../core/web/problem.ts";
import { admitWebhook, methodNotAllowed } from "./webhook.ts";
import type { RootRuntimeOptions } from "./root-parts.ts";

/**
 * The root: checks webhooks, and answers them when their events are durable (I1). `EventRouting` passes each event to its
 * conversation, which parses and answers it. The root keeps what the whole bot shares: the directories of chats and
 * conversations, the bot's identities, its menus of commands, limits and used tokens, and knows whether storage and
 * platforms work.
 */
export class RootRuntime implements RootCalls {
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
  readonly #ids: IncomingIds;
  readonly #routing: EventRouting;
  readonly #chats: ChatDirectory;
  readonly #classes: ConversationClasses;
  readonly #targets: Targets;
  /** Finds the conversations that answer in chats. */
  readonly places: TargetPlaces;
  readonly #fileIds: BotFileIds;
  /** Whether the log has the messengers that lack settings. */
  #isLackSaid = false;

  constructor(options: RootRuntimeOptions) {
    this.#options = options;
    this.#messengers = options.messengers;
    const { clock } = options.deps;
    const store = createRootStore(options.database);
    this.#store = store;
    this.#fileIds = createBotFileIds(options);
    this.#storage = new StorageHealth({ clock, store });
    this.access = new PlatformAccess({ ...options, store });
    this.#warnings = new HealthWarnings(options);
    this.#menu = new CommandMenu({
      ...options,
      store,
      onAsked: (definition, error) => this.access.outcome(definition, error),
    });
    this.#aliases = new ChatAliases({ clock, store });
    this.#chats = new ChatDirectory({
      clock,
      store: createChatStore(options.database),
      aliases: this.#aliases,
    });
    this.#classes = new ConversationClasses({
      objects: options.objects,
      classes: createConversationClassStore(options.database),
      store,
    });
    const parts = {
      ...options,
      store,
      aliases: this.#aliases,
      chats: this.#chats,
      classes: this.#classes,
    };
    this.#targets = new Targets(parts);
    this.places = new TargetPlaces({ ...parts, targets: this.#targets });
    this.#ids = new IncomingIds(options);
    this.#routing = new EventRouting({ ...parts, conversations: new ConversationResolver(parts) });
    this.#identities = new BotIdentities({ ...options, store, access: this.access });
    this.#tokens = createTokenUsageStore(options.database);
    this.#limits = new TurnLimits(options.database, this.#tokens);
  }

  /** Answers a messenger's webhook. Returns undefined if the request is not for a messenger. */
  async handle(request: Request): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const definition = this.#messengers.all().find((candidate) => candidate.path === pathname);
    if (definition === undefined) {
      const lacking = this.#messengers.leftOut().find(({ id }) => pathname === `/messengers/${id}/webhook`);
      return lacking === undefined ? this.#install(request, pathname) : this.#unconfigured(lacking);
    }
    try {
      const admitted = await admitWebhook(request, definition, this.#options.deps.clock);
      if (admitted instanceof Response) return admitted;
      if (admitted.method === "GET") return await this.#shakeHands(admitted, definition);
      return await definition.platform.receive(admitted, this.#messengers.context(definition.id), {
        accept: (events) => this.#acceptSafely(definition, events),
        ignore: (kind) => this.#store.countIgnored(definition.id, kind),
        findChat: this.#chats.finder(definition.id),
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

  /** Answers a webhook of a messenger without its settings. The platform sends it again. */
  #unconfigured(lacking: LeftOutMessenger): Response {
    this.#sayLack(lacking);
    return problem(503, "messenger-unconfigured", "A setting of this messenger is missing. See /health.");
  }

  #sayLack({ id, missing }: LeftOutMessenger): void {
    this.#options.log.warn("messenger.unconfigured", { messenger: id, missing: missing.join(", ") });
  }

  /** Serves the pages on which people add the bot to their workspace. */
  async #install(request: Request, pathname: string): Promise<Response | undefined> {
    const [, id = "", callback] = /^\/messengers\/([^/]+)\/install(\/callback)?$/.exec(pathname) ?? [];
    const install = this.#messengers.find(id)?.platform.install;
    if (install === undefined || request.method !== "GET") return undefined;
    return install(request, callback === undefined ? "begin" : "finish", this.#messengers.context(id));
  }

  async #shakeHands(request: Request, definition: NormalizedMessengerDefinition): Promise<Response> {
    const response = await definition.platform.handshake?.(request, this.#messengers.context(definition.id));
    return response ?? methodNotAllowed(definition);
  }

  async identity(messengerId: string): Promise<BotIdentity> {
    return this.#identities.of(this.#messengers.get(messengerId));
  }

  /** Notes that a chat continues under another id, and so do its conversations. */
  async chatMoved(messengerId: string, move: ChatMove): Promise<void> {
    this.#moved(messengerId, move);
  }

  #moved(messengerId: string, move: ChatMove): void {
    if (!this.#aliases.learn(messengerId, move)) return;
    this.#chats.moved(messengerId, move.from.chatId, move.to.chatId);
    this.#options.onMoved?.(messengerId, move);
  }

  /** A conversation was refused a call to a chat, at this time: the bot cannot write there any more. */
  async chatGone(messengerId: string, chatId: string, code: string, at: number): Promise<void> {
    this.#chats.gone(messengerId, chatId, code, at);
  }

  /** Returns the title of a group or channel. A private chat has its person's name, and that is no place for others. */
  titleOf(messengerId: string, chatId: string): string | undefined {
    const chat = this.#chats.find({ messengerId, chatId });
    return chat?.kind === "private" ? undefined : chat?.title;
  }

  /** Returns the title of the chat in which a conversation was last written to. */
  titleOfConversation(name: string): string | undefined {
    return this.#store.titleOf(parseObjectAddress(name).conversation);
  }

  async resolveTarget(to: ChatTarget): Promise<Resolution> {
    return this.#targets.resolve(to);
  }

  async locateTarget(to: BroadcastTarget): Promise<PlacedTarget> {
    return this.places.locate(to);
  }

  async reportAccess(messengerId: string, refusedWith: string | undefined): Promise<void> {
    if (refusedWith === undefined) this.access.works(messengerId);
    else this.access.refused(messengerId, refusedWith);
  }

  findSentFile(file: SentFile): Promise<string | undefined> {
    return this.#fileIds.findSentFile(file);
  }

  noteSentFile(file: SentFile, fileId: string): Promise<void> {
    return this.#fileIds.noteSentFile(file, fileId);
  }

  forgetSentFile(file: SentFile, fileId: string): Promise<void> {
    return this.#fileIds.forgetSentFile(file, fileId);
  }

  /** @throws {InvalidInputError} `chat-filter-invalid` */
  listChats(filter: ChatFilter): ChatPage {
    return this.#chats.list(filter);
  }

  /** Stores the tokens of a turn. A report that comes again counts once. */
  async noteUsage(used: UsedTokens, keepMs: number): Promise<void> {
    this.#tokens.add(used, this.#options.deps.clock.now() - keepMs);
  }

  usage(filter: UsageFilter): TokenUsageEntry[] {
    return this.#tokens.sum(filter);
  }

  /** Tells whether a person may ask for one more answer, in any conversation. If so, it is counted. */
  async takeQuestion(asked: AskedQuestion): Promise<boolean> {
    return this.#limits.take(asked);
  }

  /** Returns what an operator should look at. `notes` are those of the whole bot. */
  warnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
    const lacking = this.#messengers.leftOut();
    if (!this.#isLackSaid) for (const one of lacking) this.#sayLack(one);
    this.#isLackSaid = true;
    return [
      ...lacking.map(leftOutWarning),
      ...this.#classes.warnings(),
      ...this.#warnings.list(this.#messengers.all(), notes),
    ];
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
    return this.#store
      .directory(limit)
      .map((entry) => ({ ...entry, name: this.#classes.addressOf(entry.name) }));
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
    this.#ids.note(definition.id, events);
    for (const { move } of events) if (move !== undefined) this.#moved(definition.id, move);
    await this.#routing.deliver(definition, events);
    this.#tellMenu(definition);
  }

  /** Routes an event whose conversation could not be determined at its webhook: see `EventRouting`. */
  routeEvent(messengerId: string, event: IncomingEvent): Promise<RouteResult> {
    return this.#routing.route(messengerId, event);
  }

  /**
   * Returns the reason why no message can be stored or answered. If there is none, the menu of commands is sent, so
   * that it is there before the first message.
   */
  async problem(): Promise<HealthProblem | undefined> {
    const problem = this.#storage.problem() ?? (await this.access.problem(this.#messengers.all()));
    if (problem === undefined) for (const definition of this.#messengers.all()) this.#tellMenu(definition);
    return problem;
  }

  /** Sends the menu of commands to a platform that does not know it, in the background. */
  #tellMenu(definition: NormalizedMessengerDefinition): void {
    if (this.#menu.isDue(definition))
      this.#options.later(() => this.#menu.tell(definition, this.#messengers.context(definition.id)));
  }
}
