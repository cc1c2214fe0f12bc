import type { Adapter, AdapterPostableMessage, Attachment, FileUpload, Message } from "chat";
import type { FileKind } from "../../../src/core/message/content.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type { Markup } from "../../../src/core/message/markup.ts";
import type { UpdateTexts } from "../../../src/core/chat/messenger.ts";
import type { MessengerCapabilities, MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Placeholder } from "../../../src/core/message/placeholder.ts";
import type {
  ButtonLimits,
  CallFailure,
  CallOptions,
  Pacing,
  Press,
} from "../../../src/core/chat/surface.ts";
import type { LengthUnit } from "../../../src/core/text/text-length.ts";
import type { ReadHeader } from "../errors/call-pauses.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import type { MessageWindow } from "../template.ts";
import type { AddressRules } from "../newest-addresses.ts";
import type { MentioningText } from "../events/text-to-bot.ts";
import type { InstallationRules } from "./installation-rules.ts";
import type { KeptFileCalls } from "../state/kept-file-store.ts";
import type { StateKind } from "../state/state-kind.ts";
import type { AdapterSearch } from "./search/adapter-search.ts";
import type { FileSource, GetJson } from "./file-source.ts";

export interface FilePost {
  readonly chatId: string;
  readonly threadId: string;
  /** The caption: Markdown, which may be empty. */
  readonly text: string;
  readonly files: readonly FileUpload[];
  /** The kinds of the files, in order. */
  readonly kinds: readonly FileKind[];
}

/** Returns where the files of a chat are kept that wait for an answer. */
export type KeptFilesOf = (chatId: string) => KeptFileCalls;

export interface FilePostOptions
  extends Pick<Deps, "clock" | "fetch" | "newId">, Pick<CallOptions, "onSent" | "signal"> {
  readonly kept: KeptFilesOf;
}

/** A message that the platform has accepted and then not delivered. */
export interface UndeliveredMessage {
  readonly threadId: string;
  readonly messageId: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Stable, for logs. */
  readonly code: string;
  /** Set if nothing arrives in the chat until the person writes. */
  readonly goneCode?: string;
}

/** A message, or a change of one, that the adapter does not report. */
export interface UnreportedMessage {
  readonly kind: "new" | "edited" | "deleted";
  /** Has the adapter report the message as it reports a new one. */
  readonly report: (adapter: Adapter) => void | Promise<void>;
}

/** An event that the adapter does not report. A command that the platform tells by a number may have no name here. */
export type UnreportedEvent =
  | UnreportedMessage
  /** An event for `AdapterProfile.handleOwn`. */
  | { readonly kind: "own"; readonly threadIdOf: (adapter: Adapter) => string }
  | { readonly kind: "unnamed-command"; readonly number: string };

export interface OwnEventOptions extends Pick<Deps, "clock" | "fetch"> {
  /** The thread for calls. */
  readonly threadId: string;
  readonly kept: KeptFilesOf;
  readonly classify: (error: unknown) => CallFailure;
  readonly textOf: UpdateTexts;
}

/** Returns the name of a command by its number (`ChatSdkMessengerOptions.quickCommands`). */
export type CommandNames = (number: string) => string | undefined;

export interface MessagePost {
  readonly threadId: string;
  readonly message: AdapterPostableMessage;
  /** Whether the message asks people for something. */
  readonly isQuestion: boolean;
}

/** A message that replaces a placeholder. */
export interface FillingPost {
  readonly token: string;
  readonly message: AdapterPostableMessage;
  readonly files: readonly FileUpload[];
}

/** A text for the person who pressed a button. */
export interface Whisper {
  /** The thread of the press. */
  readonly threadId: string;
  readonly press: Press;
  /** Escaped for the platform. */
  readonly text: string;
  /** Whether the adapter takes the text as Markdown. If not, it leaves it alone. */
  readonly isMarkdown: boolean;
}

export interface WhisperOptions extends Pick<Deps, "fetch"> {
  readonly signal: AbortSignal;
}

/** A press as the adapter reports it. */
export interface StoredPress {
  readonly threadId: string;
  /** The platform's object, as JSON. */
  readonly raw: unknown;
}

export interface PressFacts {
  /** The thread that has the message with the button. @default the adapter's thread */
  readonly threadId?: string;
  /** See `MessengerAction.token`. */
  readonly token?: string;
}

/** Facts about a platform and its adapter that the Chat SDK does not tell. Options of the messenger win over them. */
export interface AdapterProfile {
  /** Abilities that differ from the defaults. `maxMessageLength` counts in `lengthUnit`. */
  readonly capabilities: Partial<MessengerCapabilities>;
  /** Abilities that depend on the adapter's own options. */
  readonly capabilitiesOf?: (adapter: Adapter) => Partial<MessengerCapabilities>;
  /** @default "utf16" */
  readonly lengthUnit?: LengthUnit;
  /** How the platform writes formatted text. @default Markdown, which the adapter translates */
  readonly markup?: Markup;
  /**
   * Whether the adapter takes Markdown and passes it on as it is. If not, and there is a `markup`, it gets text that it
   * leaves alone (`raw`). @default false
   */
  readonly takesMarkdown?: boolean;
  /** How the platform writes the text of cards, if not as other text. */
  readonly cardMarkup?: Markup;
  /** How replies appear, unless the bot says otherwise. @default "edit" */
  readonly mode?: DeliveryMode;
  /** Least time between two interim edits of a message, in milliseconds. */
  readonly editEveryMs?: number;
  /** @default true */
  readonly hasLinkButtons?: boolean;
  /** @default true */
  readonly canRemoveMessages?: boolean;
  /** Whether the adapter sends files. @default true */
  readonly sendsFiles?: boolean;
  /** Most bytes of a file, for kinds with a limit below the usual one. 0: the platform takes no files of this kind. */
  readonly maxFileBytes?: Partial<Readonly<Record<FileKind, number>>>;
  /** See `FileCapabilities.photoTypes`. @default all */
  readonly photoTypes?: readonly string[];
  /** Whether a message can have files and text. @default true */
  readonly hasCaptions?: boolean;
  /** Longest text below a file. @default the longest message */
  readonly maxCaptionLength?: number;
  /** @default no limits */
  readonly buttonLimits?: ButtonLimits;
  /** Limits that depend on the adapter's own options. */
  readonly buttonLimitsOf?: (adapter: Adapter) => ButtonLimits;
  /**
   * Returns the chat of a thread: the largest place to which the bot can post. @default the adapter's channel
   */
  readonly chatIdOf?: (threadId: string) => string;
  /** Set if the ids of threads contain an address that can change. @default they do not */
  readonly addresses?: AddressRules;
  /** Whether the platform limits the calls of an account, or of an installation, and not those of a chat. @default false */
  readonly limitsAccount?: boolean;
  /** Whether of two messages of a thread the later one has the higher id, an integer. @default false */
  readonly numbersThreads?: boolean;
  /** Rates that differ from the defaults. */
  readonly pacing?: Partial<Pacing>;
  /** Reads the platform's own words. Undefined: the error says no more than its class or its HTTP status. */
  readonly readFailure?: (facts: ErrorFacts, call: FailedCall) => CallFailure | undefined;
  /**
   * Finds the bytes of a file that somebody has sent. Adapters fetch files with an option of `https.request` that workerd
   * does not have. Undefined: the adapter fetches this file. @default the adapter fetches all
   */
  readonly fileSource?: (
    attachment: Attachment,
    adapter: Adapter,
    getJson: GetJson,
  ) => Promise<FileSource | undefined>;
  /**
   * Finds the mentions of the bot in a message, from the platform's object. Undefined: the text has them as `@name`,
   * `@id`, or `<@id>`.
   */
  readonly mentioningText?: (
    message: Pick<Message, "raw" | "text">,
    botUserId: string | undefined,
  ) => MentioningText | undefined;
  /** Returns forms in which a text mentions the bot by something else than its account. @default there are none */
  readonly otherMentions?: (adapter: Adapter) => readonly string[];
  /**
   * Shows a text to the person who pressed a button, and to nobody else. @default the adapter's `postEphemeral`, if it
   * has one
   */
  readonly whisper?: (whisper: Whisper, adapter: Adapter, options: WhisperOptions) => Promise<void>;
  /**
   * Posts files with their caption. Returns the message id. Whether a failed call may have posted them is said by
   * `onSent`, or by the error. @default the adapter's `postMessage`
   */
  readonly postFiles?: (post: FilePost, adapter: Adapter, options: FilePostOptions) => Promise<string>;
  /** Posts a message without files. Returns its id. @default the adapter's `postMessage` */
  readonly post?: (post: MessagePost, adapter: Adapter) => Promise<string>;
  /** How the adapter shows that the bot works. @default for 5 seconds */
  readonly typing?: (adapter: Adapter) => { readonly lastsMs: number } | "none";
  /** Shows it below the newest message that this object has seen in the thread. @default the adapter's `startTyping` */
  readonly startTyping?: (adapter: Adapter, messageId: string | undefined) => Promise<void>;
  /** Whether the platform wants a sign of life as soon as a thread begins. @default false */
  readonly wantsSign?: (threadId: string) => boolean;
  /** Whether a webhook says that a person stops the running answer, which the adapter reports as a message. */
  readonly isStop?: (body: unknown) => boolean;
  /**
   * Reads a message, its edit, its deletion or a command from the JSON of a verified webhook. Undefined: it tells of none
   * that the adapter leaves out. @default the adapter reports them
   */
  readonly readUnreported?: (body: unknown, nameOf: CommandNames) => UnreportedEvent | undefined;
  /** Handles an event of the kind `own`. Called once, and again only if the process dies before it has resolved. */
  readonly handleOwn?: (
    event: Pick<MessengerEvent, "key" | "raw" | "thread">,
    adapter: Adapter,
    options: OwnEventOptions,
  ) => Promise<void>;
  /** Whether the platform tells some commands by a number alone. @default false */
  readonly numbersCommands?: boolean;
  /** Says what to set if the adapter, as it is configured, can verify no webhook, or make no call. */
  readonly findMistake?: (adapter: Adapter) => string | undefined;
  /** Says what to set if the adapter refuses the webhook with this JSON, which is not verified. */
  readonly explainRefusal?: (body: unknown, adapter: Adapter) => string | undefined;
  /**
   * Whether an event is of a place that the adapter does not know, and takes for another one. Such an event is ignored.
   * @default the adapter knows all places
   */
  readonly isElsewhere?: (raw: unknown) => boolean;
  /** Whether a webhook says that the platform drops events, because there are too many. */
  readonly dropsEvents?: (body: unknown) => boolean;
  /** Finds the placeholder that the platform shows until a slash command is answered. @default there is none */
  readonly placeholderOf?: (raw: unknown, now: number) => Placeholder | undefined;
  /** Replaces a placeholder by a message. Returns the message id. Can be repeated. */
  readonly fillPlaceholder?: (
    post: FillingPost,
    adapter: Adapter,
    options: WhisperOptions,
  ) => Promise<string>;
  /** Removes a placeholder. Can be repeated. */
  readonly removePlaceholder?: (token: string, adapter: Adapter, options: WhisperOptions) => Promise<void>;
  /** Finds facts of a press that the adapter does not tell. @default the adapter tells all */
  readonly readPress?: (press: StoredPress) => PressFacts;
  /** Tells what the adapter keeps under a key of its state. Undefined: a cache. @default all are caches */
  readonly stateKind?: (key: string, adapter: Adapter) => StateKind | undefined;
  /** Whether the adapter keeps tokens, as it is configured. @default false */
  readonly keepsSecrets?: (adapter: Adapter) => boolean;
  /**
   * Reads the messages that the platform has accepted and then not delivered, from the JSON of a webhook. @default the
   * platform tells at once
   */
  readonly readUndelivered?: (body: unknown) => readonly UndeliveredMessage[];
  /** Set if the platform takes ordinary messages only for some time after the person has written. @default always */
  readonly window?: MessageWindow;
  /** One app with several installations. Undefined if the adapter has only one. */
  readonly installations?: InstallationRules;
  /**
   * Returns how long an account must wait before its next call, in milliseconds, by the headers of an answer. Undefined:
   * it has calls left. `prepare` must pass the headers of answers to `keepHeaders`. @default only a refusal tells
   */
  readonly pauseOf?: (header: ReadHeader, now: number) => number | undefined;
  /** Finds posts whose answers were lost. @default none are found */
  readonly search?: AdapterSearch;
  /** Changes an adapter before its first call. */
  readonly prepare?: (adapter: Adapter) => void;
}
