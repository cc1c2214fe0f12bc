import type { ChatFacts } from "./chat.ts";
import type { ChatMove } from "./chat-move.ts";
import type { Content } from "../message/content.ts";
import type { CardClaim } from "./gate.ts";
import type { DeliveryPolicy } from "./delivery.ts";
import type { Database } from "../store/database.ts";
import type { Deps } from "../base/deps.ts";
import type { LocalText } from "../text/local-text.ts";
import type { Log } from "../base/log.ts";
import type {
  AttachmentReference,
  MessengerAuthor,
  MessengerEvent,
  MessengerThread,
} from "./messenger-event.ts";
import type { Placeholder } from "../message/placeholder.ts";
import type { Surface } from "./surface.ts";

/** Which events start a reply. */
export type MessengerRespondTo = "direct-message" | "mention" | "subscribed-thread" | "action";

/** A class that extends `Think`, and has the same messengers as the bot's own class. */
export type ConversationClass = abstract new (...args: never) => {
  inner(method: string, args: readonly unknown[]): Promise<unknown>;
};

/** The agent that answers an event. */
export type ConversationTarget =
  /** The root itself: all conversations share one memory. */
  | { readonly target: "self" }
  | {
      readonly target: "subagent";
      /** The agent of this name, created on first use. 1 to 512 bytes, no control characters. */
      readonly name: string;
      /**
       * The class of a new agent. One that exists stays with the class that has its memory, until `switchboard data
       * move` gives it another one. @default the bot's own class
       */
      readonly agentClass?: ConversationClass;
    };

/**
 * Chooses the agent that answers an event. A string that the function returns is the name of an agent, also `"self"`
 * and `"thread"`; the root itself is `{ target: "self" }`. @default "thread"
 */
export type MessengerConversation =
  | "thread"
  | "self"
  | ((event: MessengerEvent) => ConversationTarget | string | Promise<ConversationTarget | string>);

/** Verifies a webhook. `true`: it is genuine. A Response: answer with it. `false`: answer 401. */
export type VerifyWebhook = (request: Request) => boolean | Response | Promise<boolean | Response>;

/** People who may use the bot: platform user ids, or a function. */
export type MessengerAllow =
  | readonly (string | number)[]
  | ((author: MessengerAuthor, event: MessengerEvent) => boolean | Promise<boolean>);

/** Most answers for one person, in all chats together. Messages that become one turn count once. */
export interface MessengerLimits {
  /** Within any 24 hours. @default no limit */
  readonly turnsPerPersonPerDay?: number;
  /** Within any 60 seconds. @default no limit */
  readonly turnsPerPersonPerMinute?: number;
  /**
   * Tokens within any 24 hours, input and output together, as the model's server counts them. The turn that passes the
   * limit is still answered. @default no limit
   */
  readonly tokensPerPersonPerDay?: number;
}

/** Options that every messenger has, whatever the platform. */
export interface MessengerOptions {
  /** Webhook path, with a leading slash and without `?` and `#`. @default "/messengers/{id}/webhook" */
  readonly path?: string;
  /** Events that start a reply. @default ["direct-message", "mention"] */
  readonly respondTo?: readonly MessengerRespondTo[];
  /** Whether a mention subscribes its thread. @default true */
  readonly subscribeOnMention?: boolean;
  /**
   * Chooses the agent that answers an event. A function is called only for events that may be answered, with the event
   * as `toEvent` made it. @default "thread"
   */
  readonly conversation?: MessengerConversation;
  /**
   * Verifies a request before anything else reads it. A function, or `false` to accept every request.
   * @default the provider's own check; required if the provider has none
   */
  readonly verifyWebhook?: VerifyWebhook | false;
  /** How replies appear, and the texts that no model writes. */
  readonly delivery?: DeliveryPolicy;
  /**
   * Changes or replaces the event that a provider read from an update. It may run more than once for one event: at the
   * root if `conversation` is a function, and in the conversation.
   */
  readonly toEvent?: (input: ToEventInput) => MessengerEvent | Promise<MessengerEvent>;
  /**
   * Name of a speaker in front of a message in a group. Never used in private chats. `false` leaves the name out.
   * @default full name, else user name, else user id
   */
  readonly channelSpeakerLabel?: boolean | ((author: MessengerAuthor) => string);
  /** Name of the messenger among Chat SDK adapters. @default the provider's name */
  readonly adapterName?: string;
  /**
   * Media types whose files the model gets as file parts. `*` is allowed after the slash, or alone for all types.
   * @default ["image/*"]
   */
  readonly acceptsMedia?: readonly string[];
  /** Largest file that is fetched for the model, in bytes. @default 10485760 */
  readonly maxMediaBytes?: number;
  /** People who may use the bot. Others get one polite refusal and cost nothing. @default everyone */
  readonly allow?: MessengerAllow;
  /**
   * Content for a person who is not allowed, such as a card with a link. Sent once to each person.
   * @default the text `refusedResponseText` of `delivery`
   */
  readonly refusal?: Content | ((event: MessengerEvent) => Content | Promise<Content>);
  /**
   * Limits for one person. Over the limit the person is told once, with `limitResponseText`, and costs nothing.
   * @default no limits
   */
  readonly limits?: MessengerLimits;
  /** Time in which messages of one person become one turn, in milliseconds. @default 1000 */
  readonly burstMs?: number;
  /**
   * Effect of a message that arrives while a reply runs and does not belong to the message before it. @default "queue"
   *
   * - `queue`: it is answered after the reply.
   * - `steer`: the model gets it before its next step.
   * - `interrupt`: it stops the running reply.
   */
  readonly whenBusy?: "queue" | "steer" | "interrupt";
  /**
   * Whether an edit of the last answered message restarts its answer, in place. While the answer waits for consent, an edit
   * always does. @default false
   */
  readonly rerunOnEdit?: boolean;
  /**
   * Age after which unanswered messages, as after an outage, become one turn for each person of the thread, in
   * milliseconds. @default 86400000
   */
  readonly staleAfterMs?: number;
  /** Most unanswered messages kept for one conversation. @default 100 */
  readonly inboxLimit?: number;
}

export interface ToEventInput {
  /** The event that the provider read. */
  readonly event: MessengerEvent;
  readonly eventKind: MessengerEvent["kind"];
  readonly thread: MessengerThread;
  /** The platform's own object. */
  readonly raw: unknown;
}

/** Result of a provider's factory: `telegramMessenger`, `chatSdkMessenger`. */
export interface MessengerDefinition extends MessengerOptions {
  readonly platform: MessengerPlatform;
}

/**
 * Stands for a messenger whose settings are incomplete, so that the bot's others start. `/health` warns, and its webhook
 * answers 503.
 */
export interface UnconfiguredMessenger {
  /** Names of the variables that are missing. */
  readonly missing: readonly string[];
}

export type ThinkMessengers = Readonly<Record<string, MessengerDefinition | UnconfiguredMessenger>>;

/** An update as the inbox stores it: raw, with the fields to route it and to recognize it again. */
export interface IncomingEvent {
  /** The platform's own identity of the event within the bot, for example `m:123:45` (I2). */
  readonly key: string;
  readonly thread: MessengerThread;
  /** The platform's object as JSON. */
  readonly raw: unknown;
  /** Set if the event shows that its chat has a new id, or had another one before. */
  readonly move?: ChatMove;
  /** Id of the message, if the platform numbers its messages and this is a new one. */
  readonly messageId?: string;
  /**
   * True for a press of a card's button (`parseCardToken`). It goes to the gate of its chat, which knows the conversation
   * of the card. `conversation` is not asked.
   */
  readonly isCardPress?: boolean;
  /** The card that the event belongs to, if another object of the bot has found it. */
  readonly claim?: CardClaim;
  /**
   * The edited message as a new one, for an edit that may be the first event about its message. It is stored instead if
   * no event with its key was seen. Some platforms mark new messages as edited.
   */
  readonly ifUnseen?: { readonly key: string; readonly raw: unknown };
  /** Set if the platform shows a placeholder until the bot answers this event. */
  readonly placeholder?: Placeholder;
  /**
   * True for an event of the chat itself, such as a reaction. It is stored in the object of the chat's thread without a
   * topic, and `conversation` is not asked.
   */
  readonly isOfChat?: boolean;
}

/** The bot's own account on a platform. */
export interface BotIdentity {
  readonly userId: string;
  /** Without `@`. */
  readonly userName?: string;
}

export interface ReceiveContext {
  /** Resolves when the events are durable in the inboxes of their threads. Rejects if one of them is not (I1). */
  accept(events: readonly IncomingEvent[]): Promise<void>;
  /** Counts an update of a kind that this provider does not handle. Nothing is stored. */
  ignore(kind: string): void;
  /** Returns the id of a known chat whose id begins with this text, the last seen one of several. */
  readonly findChat: (beginning: string) => string | undefined;
}

export interface PlatformContext {
  readonly messengerId: string;
  readonly deps: Deps;
  readonly log: Log;
  /**
   * Returns the stored identity, at most a day old while the platform answers. Rejects if none is stored and the
   * platform does not answer.
   */
  identity(): Promise<BotIdentity>;
  /** Returns the calls of the platform's part at the root (`MessengerPlatform.atRoot`). */
  root<Calls extends object>(place?: PlatformPlace): Calls;
}

/** Returns a text of the messenger for the person of an update. */
export type UpdateTexts = (name: "fileRefusedText" | "staleActionResponseText") => string;

/** The object that keeps a part of a platform's rows. */
export interface PlatformPlace {
  /** An object of its own beside the root. @default the root itself */
  readonly shard?: string | undefined;
  /** The name of another root of the bot, which has several. @default the caller's own */
  readonly root?: string | undefined;
}

/** The object that keeps a platform's rows for the whole bot. */
export interface PlatformHost {
  readonly messengerId: string;
  readonly database: Database;
  readonly deps: Deps;
  readonly env: object;
}

/** A platform's deliveries to the webhook, as the platform tells. */
export interface WebhookReport {
  readonly isSet: boolean;
  /** Number of updates that wait. */
  readonly pending: number;
  /** The last failed delivery, in the platform's words. `at`: epoch milliseconds. */
  readonly lastError?: { readonly at: number; readonly message: string };
}

export interface FetchedFile {
  readonly bytes: Uint8Array;
  readonly mediaType?: string;
}

/** A bot, as it describes itself to its operator. */
export interface BotFacts {
  /** Provider and name of the model. Undefined if the bot has none. */
  readonly model: string | undefined;
  readonly messengers: readonly MessengerFacts[];
}

/** A messenger, as the bot describes it to its operator. */
export interface MessengerFacts {
  readonly id: string;
  readonly provider: string;
  /** Path of its webhook. */
  readonly path: string;
  /** Kinds of updates that the platform should send. Undefined if it has no such choice. */
  readonly updates?: readonly string[];
  /** Commands of the menu. */
  readonly commands: readonly CommandEntry[];
}

/** A command as a person sees it in a menu. */
export interface CommandEntry {
  /** Without the slash. */
  readonly name: string;
  readonly description: LocalText;
}

/**
 * One platform: reads incoming updates, and opens the surface for outgoing messages. Created once per object and
 * messenger.
 */
export interface MessengerPlatform {
  /** `telegram`, `slack`, ... */
  readonly provider: string;
  /**
   * Checks what the platform needs of the bot's environment, before anything runs.
   * @throws {ConfigurationError} if it is missing; the message tells the fix
   */
  readonly checkEnvironment?: (env: object) => void;
  /**
   * Creates the part that keeps the platform's rows for the whole bot. `PlatformContext.root` calls it from every object.
   * Its methods return promises of plain data. Undefined if the platform keeps nothing.
   */
  readonly atRoot?: (host: PlatformHost) => object;
  /** Whether messages reach chats that are `window-closed`, in another form. @default false */
  readonly opensWindows?: boolean;
  /** Kinds of updates that the platform should send to the webhook. Undefined if it has no such choice. */
  readonly wantedUpdates?: readonly string[];
  /** The provider's own verification; undefined if the definition has `verifyWebhook`. */
  readonly verification: PlatformVerification;
  /**
   * Returns the id of a chat's thread without a topic. The object of that thread is the chat's gate for all
   * conversations. Pure: the same chat always has the same id.
   */
  chatThreadId(chatId: string): string;
  /** Returns the id of the thread of a topic. Pure. Undefined if bot code cannot address topics of the platform. */
  readonly topicThreadId?: (chatId: string, topicId: string) => string;
  /**
   * Turns a verified request into events and answers it. The body is at most 1 MiB.
   *
   * Rejects if an event could not be stored. The root then answers 503, and the platform sends the event again.
   */
  receive(request: Request, context: PlatformContext, receive: ReceiveContext): Promise<Response>;
  /**
   * Answers a verified GET request, with which some platforms check that the webhook belongs to the bot. Stores
   * nothing.
   *
   * Returns undefined for any other request. Undefined itself if the platform sends only POST requests.
   */
  readonly handshake?: (request: Request, context: PlatformContext) => Promise<Response | undefined>;
  /**
   * Serves the pages on which people add the bot to their workspace: sends them to the platform, and takes them back.
   * Undefined if there is nothing to add.
   */
  readonly install?: (
    request: Request,
    step: "begin" | "finish",
    context: PlatformContext,
  ) => Promise<Response>;
  /**
   * Reads the event from a stored update. Pure, except for `context.identity()`. An update that it cannot read becomes
   * `ignored`.
   */
  parse(incoming: IncomingEvent, context: PlatformContext): Promise<MessengerEvent>;
  /**
   * Reads the facts that an update shows of its chat. Pure, quick, and never throws: it runs at the root for every
   * webhook. Undefined if the platform tells only the thread.
   */
  readonly describeChat?: (incoming: IncomingEvent) => ChatFacts;
  surface(context: PlatformContext): Surface;
  /**
   * Hands an event of the kind `update` to the bot's own code. Called once, and again only if the process dies before it
   * has resolved. Undefined if the bot has no such code.
   *
   * @param textOf returns one of the messenger's texts
   */
  readonly handleUpdate?: (
    event: MessengerEvent,
    context: PlatformContext,
    textOf: UpdateTexts,
  ) => Promise<void>;
  /**
   * Returns the SHA-256 of the token, never the token, to tell accounts of a platform apart. A stored identity belongs
   * to one account.
   *
   * Undefined if the platform cannot tell. All accounts then count as one.
   */
  readonly account?: () => Promise<string>;
  /** Asks the platform for the bot's own account. */
  fetchIdentity(context: PlatformContext, signal: AbortSignal): Promise<BotIdentity>;
  /**
   * Asks the platform whether the bot's credentials are valid. If not, rejects with an error that the surface
   * classifies as `misconfigured`. Undefined if the platform has no such call.
   */
  readonly checkAccess?: (context: PlatformContext, signal: AbortSignal) => Promise<void>;
  /**
   * Asks the platform whether a person is in a chat. Rejects, or resolves with `undefined`, if it does not tell. Undefined
   * if the platform has no such call.
   */
  readonly isMember?: (
    chatId: string,
    userId: string,
    context: PlatformContext,
    signal: AbortSignal,
  ) => Promise<boolean | undefined>;
  /** Asks the platform whether it can deliver to the webhook. Undefined if it does not tell. */
  readonly checkWebhook?: (context: PlatformContext, signal: AbortSignal) => Promise<WebhookReport>;
  /**
   * Sets the menu of commands that clients show, in each language of the descriptions. Undefined if the platform has no
   * menu, or the bot does not want one.
   *
   * @param formerLanguages languages of an earlier menu, which no description has any more
   */
  readonly setCommands?: (
    commands: readonly CommandEntry[],
    context: PlatformContext,
    signal: AbortSignal,
    formerLanguages: readonly string[],
  ) => Promise<void>;
  /** Returns the bytes of an attachment. Rejects over `maxBytes`, for a foreign host, or if the platform refuses. */
  fetchAttachment(
    reference: AttachmentReference,
    context: PlatformContext,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<FetchedFile>;
  /**
   * Returns what the platform knows of an attachment without its bytes. Rejects as `fetchAttachment` does. Undefined if
   * the platform has no such call.
   */
  readonly fetchAttachmentMetadata?: (
    reference: AttachmentReference,
    context: PlatformContext,
    options: { readonly signal: AbortSignal },
  ) => Promise<{ readonly sizeBytes?: number; readonly mediaType?: string }>;
}

/**
 * - `header`: a secret in a header, checked before the body is read
 * - `body`: a signature over the body, checked by `receive` itself
 * - `none`: only `verifyWebhook` of the definition verifies
 */
export type PlatformVerification =
  | { readonly kind: "header"; readonly verify: (headers: Headers) => boolean | Promise<boolean> }
  | { readonly kind: "body" }
  | { readonly kind: "none" };
