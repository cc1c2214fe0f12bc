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
  /** Messages older than this when they can be answered are answered together, in milliseconds. @default 86400000 */
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
  /** The id of the message, where the platform numbers its messages and this is a new one. */
  readonly messageId?: string;
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
  /** The stored identity; asks the platform only when nothing is stored. Rejects when the platform cannot be asked. */
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
  /** The event of a stored update. Pure but for `context.identity()`; total: an update it cannot read is `ignored`. */
  parse(incoming: IncomingEvent, context: PlatformContext): Promise<MessengerEvent>;
  surface(context: PlatformContext): Surface;
  /** Asks the platform who the bot is. */
  fetchIdentity(context: PlatformContext, signal: AbortSignal): Promise<BotIdentity>;
  /**
   * Has clients offer these commands in chats with the bot alone. Absent where there is no such menu, or where the bot
   * does not want it.
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
