import type { ChatMove } from "./chat-move.ts";
import type { DeliveryPolicy } from "./delivery.ts";
import type { Deps } from "./deps.ts";
import type { Log } from "./log.ts";
import type {
  AttachmentReference,
  MessengerAuthor,
  MessengerEvent,
  MessengerThread,
} from "./messenger-event.ts";
import type { Surface } from "./surface.ts";

/** Which events start a reply. */
export type MessengerRespondTo = "direct-message" | "mention" | "subscribed-thread" | "action";

/** Which agent answers an event. */
export type ConversationTarget =
  /** The root itself: every conversation shares one memory. */
  | { readonly target: "self" }
  /** The agent of this name, made on first use. `name`: 1 to 512 bytes, no control characters. */
  | { readonly target: "subagent"; readonly name: string };

/** @default "thread" */
export type MessengerConversation =
  | "thread"
  | "self"
  | ((event: MessengerEvent) => ConversationTarget | Promise<ConversationTarget>);

/** `true`, or a Response to answer with; `false` is answered 401. */
export type VerifyWebhook = (request: Request) => boolean | Response | Promise<boolean | Response>;

/** Who may use the bot: platform user ids, or a function. */
export type MessengerAllow =
  | readonly (string | number)[]
  | ((author: MessengerAuthor, event: MessengerEvent) => boolean | Promise<boolean>);

/** How many answers one person may ask for, in all chats together. Quick lines that become one question count once. */
export interface MessengerLimits {
  /** Within any 24 hours. @default no limit */
  readonly turnsPerPersonPerDay?: number;
  /** Within any 60 seconds. @default no limit */
  readonly turnsPerPersonPerMinute?: number;
}

/** What every messenger understands, whatever the platform. */
export interface MessengerOptions {
  /** Webhook path, with a leading slash and without `?` and `#`. @default "/messengers/{id}/webhook" */
  readonly path?: string;
  /** @default ["direct-message", "mention"] */
  readonly respondTo?: readonly MessengerRespondTo[];
  /** Whether a mention subscribes its thread. @default true */
  readonly subscribeOnMention?: boolean;
  /** @default "thread" */
  readonly conversation?: MessengerConversation;
  /** Runs before anything of a request is used. Required: a function, or an explicit `false`. */
  readonly verifyWebhook?: VerifyWebhook | false;
  readonly delivery?: DeliveryPolicy;
  /** Changes or replaces the event that a provider made of an update. */
  readonly toEvent?: (input: ToEventInput) => MessengerEvent | Promise<MessengerEvent>;
  /**
   * How a speaker is named in front of a message in a group; never used in private chats.
   * `false` leaves the name out. @default full name, else user name, else user id
   */
  readonly channelSpeakerLabel?: boolean | ((author: MessengerAuthor) => string);
  /** The name of the messenger among Chat SDK adapters. @default the provider's name */
  readonly adapterName?: string;
  /** Media types whose files reach the model as file parts, `*` allowed after the slash or for all. @default ["image/*"] */
  readonly acceptsMedia?: readonly string[];
  /** Largest file that is fetched for the model, in bytes. @default 10485760 */
  readonly maxMediaBytes?: number;
  /** Who may use the bot; others get one polite refusal and cost nothing. @default everyone */
  readonly allow?: MessengerAllow;
  /**
   * What one person may ask for; who asks for more is told once, with `limitResponseText`, and costs nothing.
   * @default no limits
   */
  readonly limits?: MessengerLimits;
  /** Messages of one person that follow each other within this time become one turn, in milliseconds. @default 1000 */
  readonly burstMs?: number;
  /**
   * What a message does that comes while a reply runs and is no part of the message before it. `queue`: it is answered
   * afterwards. `steer`: the model gets it before its next step. `interrupt`: the running reply is stopped for it.
   * @default "queue"
   */
  readonly whenBusy?: "queue" | "steer" | "interrupt";
  /** Whether an edit of the message that was answered last has it answered anew, in place. @default false */
  readonly rerunOnEdit?: boolean;
  /**
   * Messages older than this when they can be answered, as after an outage, become one turn for each person of the
   * thread, in milliseconds. @default 86400000
   */
  readonly staleAfterMs?: number;
  /** Most unanswered messages kept for one conversation. @default 100 */
  readonly inboxLimit?: number;
}

export interface ToEventInput {
  /** What the provider made of it. */
  readonly event: MessengerEvent;
  readonly eventKind: MessengerEvent["kind"];
  readonly thread: MessengerThread;
  /** The platform's own object. */
  readonly raw: unknown;
}

/** What a provider's factory (`telegramMessenger`, `chatSdkMessenger`) returns. */
export interface MessengerDefinition extends MessengerOptions {
  readonly platform: MessengerPlatform;
}

export type ThinkMessengers = Readonly<Record<string, MessengerDefinition>>;

/** An update as the inbox stores it: raw, with what is needed to route it and to know it again. */
export interface IncomingEvent {
  /** The platform's own identity of the event within the bot, e.g. `m:123:45` (I2). */
  readonly key: string;
  readonly thread: MessengerThread;
  /** The platform's object as JSON. */
  readonly raw: unknown;
  /** Set where it is known that the chat of the event goes on under another id, or went by another one. */
  readonly move?: ChatMove;
  /** The id of the message, where the platform numbers its messages and this is a new one. */
  readonly messageId?: string;
  /**
   * The same message as a new one, for an edit that may be one: it is stored instead when no event with its key was seen.
   * Some platforms mark new messages as edited.
   */
  readonly ifUnseen?: { readonly key: string; readonly raw: unknown };
}

/** Who the bot is on a platform. */
export interface BotIdentity {
  readonly userId: string;
  /** Without `@`. */
  readonly userName?: string;
}

export interface ReceiveContext {
  /** Resolves when the events are durable in their threads' inboxes; rejects when one is not (I1). */
  accept(events: readonly IncomingEvent[]): Promise<void>;
  /** An update of a kind that this provider does not handle; counted, not stored. */
  ignore(kind: string): void;
}

export interface PlatformContext {
  readonly messengerId: string;
  readonly deps: Deps;
  readonly log: Log;
  /** The stored identity, a day old at most while the platform answers. Rejects when nothing is stored and it does not. */
  identity(): Promise<BotIdentity>;
}

export interface FetchedFile {
  readonly bytes: Uint8Array;
  readonly mediaType?: string;
}

/** A command as a person sees it in a menu. */
export interface CommandEntry {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
}

/** One platform: reads what comes in, and opens the surface that goes out. Made once per object and messenger. */
export interface MessengerPlatform {
  /** `telegram`, `slack`, ... */
  readonly provider: string;
  /** The verification that the provider does itself; `undefined` when the definition has `verifyWebhook`. */
  readonly verification: PlatformVerification;
  /**
   * The id of a chat's thread without a topic. Its object is the chat's gate, whatever conversation speaks there. Pure:
   * the same chat always gives the same id.
   */
  chatThreadId(chatId: string): string;
  /**
   * Turns a verified request into events and answers it. The body is at most 1 MiB. Rejects when an event could not be
   * stored: the root then answers 503, and the platform sends the event again.
   */
  receive(request: Request, context: PlatformContext, receive: ReceiveContext): Promise<Response>;
  /**
   * Answers a verified GET request, with which some platforms ask whether the webhook is the bot's; `undefined` when it is
   * no such request. Stores nothing. Absent where the platform sends only POST requests.
   */
  readonly handshake?: (request: Request, context: PlatformContext) => Promise<Response | undefined>;
  /** The event of a stored update. Pure but for `context.identity()`; total: an update it cannot read is `ignored`. */
  parse(incoming: IncomingEvent, context: PlatformContext): Promise<MessengerEvent>;
  surface(context: PlatformContext): Surface;
  /**
   * Tells the accounts of a platform apart: the SHA-256 of the token, never the token. Who the bot is was stored for one
   * account and is not true of another. Absent where a platform cannot say; then all accounts count as one.
   */
  readonly account?: () => Promise<string>;
  /** Asks the platform who the bot is. */
  fetchIdentity(context: PlatformContext, signal: AbortSignal): Promise<BotIdentity>;
  /**
   * Asks the platform whether it takes the bot's credentials: rejects with an error that the surface calls
   * `misconfigured` when it does not. Absent where no call answers just that.
   */
  readonly checkAccess?: (context: PlatformContext, signal: AbortSignal) => Promise<void>;
  /**
   * Has clients offer these commands wherever the platform has a menu of them. Absent where there is none, or where the
   * bot does not want it.
   */
  readonly setCommands?: (
    commands: readonly CommandEntry[],
    context: PlatformContext,
    signal: AbortSignal,
  ) => Promise<void>;
  /** The bytes of an attachment. Rejects over `maxBytes`, for a foreign host, or when the platform refuses. */
  fetchAttachment(
    reference: AttachmentReference,
    context: PlatformContext,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<FetchedFile>;
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
