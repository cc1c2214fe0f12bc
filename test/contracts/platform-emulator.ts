/**
 * A platform in memory, as its documents describe it: people write and press, the bot calls its API, and everybody sees
 * what is there. It knows nothing of Switchboard.
 *
 * - It keeps state: an edit changes a message that exists, and a message that does not exist cannot be edited.
 * - It refuses as the platform does: wrong tokens, missing fields, texts that are too long, unknown messages.
 * - Faults are made by `EmulatorServer`, with the refusals that the platform words itself.
 */
export interface PlatformEmulator {
  /** The adapter's name: the bot is called at `/messengers/<name>/webhook`. */
  readonly name: string;
  /** Variables that connect the bot to this platform, whose API is at `apiUrl` (no slash at its end). */
  env(apiUrl: string): Readonly<Record<string, string>>;
  /** Answers a call of the bot's. */
  answer(request: Request): Promise<Response>;
  /** Reads what a call is about, so that faults hit the intended ones. The request is a copy. */
  describe(request: Request): PlatformCall | Promise<PlatformCall>;
  /** Words a refusal of a call as the platform does. */
  refuse(refusal: Refusal, call?: PlatformCall): Response;

  /** Whether the bot hears of commands and presses alone. People then ask with the command `ask`. @default false */
  readonly talksByCommand?: boolean;

  /** Whether each message outside of threads begins a conversation. People then answer in its thread. @default false */
  readonly hasOwnThreads?: boolean;

  /**
   * Whether the platform tells the times of messages in whole seconds. A number within the second of a card may be older.
   * @default false
   */
  readonly tellsSeconds?: boolean;

  /**
   * Words the refusal of an edit that comes too late, or is one too many. Undefined if the platform sets no such limit,
   * or knows no edits.
   */
  refuseEdit?(): Response;

  /** The private chat of a person with the bot. Undefined if the platform has none. */
  direct(person: Person): Place | undefined;
  /** A place that several people and the bot share, made at the first call. Undefined if the platform has none. */
  shared(name: string): Place | undefined;
  /**
   * Does as a person does. Undefined if the platform has no such act, or its people see nothing to act on. `webhooks` is
   * empty if the platform does not report it.
   */
  act(act: Act): Promise<Acted | undefined>;
  /** Makes a place refuse the bot from now on: it was blocked, removed, or the place was closed. */
  shut(place: Place): void;

  /** Messages as people see them, in their order: with edits, without deleted ones. Private words name their reader. */
  seen(place: Place): readonly SeenMessage[];
  /** How many times the bot showed in this place that it is writing. */
  typingShown(place: Place): number;
  /** Has `changed` called after every change that people can see. */
  watch(changed: () => void): void;
  /** Has `echoed` called with the webhooks that calls of the bot cause: about its own messages and their delivery. */
  watchEchoes?(echoed: (webhook: Webhook) => void): void;
  /** Frees what it holds, if anything. */
  close?(): Promise<void>;
}

/** Names a place for the emulator that made it: a chat, a channel, an issue. Threads are in their place. */
export type Place = string;

export interface Person {
  readonly id: string;
  readonly name: string;
}

/**
 * - `post`: makes a message that people see, also an answer to an interaction
 * - `upload`: a step in front of a post with a file
 * - `read`: asks, and changes nothing
 * - `sign-in`: gets a token
 * - `keys`: fetches keys that anybody may read, for webhooks. Faults never hit it
 */
export type CallKind =
  | "post"
  | "edit"
  | "remove"
  | "typing"
  | "upload"
  | "read"
  | "sign-in"
  | "keys"
  | "other";

export interface PlatformCall {
  readonly kind: CallKind;
  /** The place that it is about, if the call tells. */
  readonly place?: Place | undefined;
}

export type Refusal =
  /** Too many calls, with the waiting time in the place that the platform has for it. */
  | { readonly kind: "flood"; readonly retryAfterMs: number }
  | { readonly kind: "error"; readonly status: 500 | 503 }
  | { readonly kind: "token" };

export type Act =
  | {
      readonly kind: "write";
      readonly by: Person;
      readonly in: Place;
      readonly text: string;
      /** Whether the text begins with a mention of the bot, in the platform's own form. @default false */
      readonly isMention?: boolean;
      /** A message whose thread this is written in. @default outside of threads */
      readonly inThreadOf?: string;
      readonly files?: readonly SentFile[];
    }
  | {
      readonly kind: "press";
      readonly by: Person;
      readonly in: Place;
      readonly messageId: string;
      readonly label: string;
    }
  | {
      /** A command that the platform knows as one, such as `/help`. */
      readonly kind: "command";
      readonly by: Person;
      readonly in: Place;
      readonly name: string;
      readonly args: string;
    }
  | {
      readonly kind: "edit";
      readonly by: Person;
      readonly in: Place;
      readonly messageId: string;
      readonly text: string;
    }
  | { readonly kind: "delete"; readonly by: Person; readonly in: Place; readonly messageId: string }
  | {
      readonly kind: "react";
      readonly by: Person;
      readonly in: Place;
      readonly messageId: string;
      readonly emoji: string;
    };

export interface SentFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Acted {
  /** The id of the message that was written. */
  readonly messageId?: string;
  readonly webhooks: readonly Webhook[];
}

/** What the platform sends to the bot. Sending it again is a redelivery: the same event, signed again. */
export interface Webhook {
  request(url: string): Request;
  /**
   * The same with proofs that the platform has made for something else: for another bot, or long ago. Undefined if
   * nothing in a webhook tells that.
   */
  forOthers?(url: string): readonly Request[];
  /** Reads the bot's answer, if the platform shows something of it. Called for the first delivery that was answered. */
  answered?(response: Response): Promise<void>;
}

/** A message as people see it. */
export interface SeenMessage {
  readonly id: string;
  /** `bot`, or the id of a person. */
  readonly by: string;
  /** Visible text, rendered by the platform: `**x**` is `x` where the platform shows it bold. */
  readonly text: string;
  /** How parts of the text look. */
  readonly marks: readonly Mark[];
  /** The message whose thread it is in. */
  readonly threadOf?: string;
  /** The only person who sees it. */
  readonly onlyFor?: string;
  /** Labels of the buttons that can be pressed. */
  readonly buttons: readonly string[];
  readonly files: readonly SentFile[];
  readonly isEdited: boolean;
}

export interface Mark {
  readonly kind:
    | "bold"
    | "italic"
    | "strike"
    | "code"
    | "block"
    | "link"
    | "item"
    | "heading"
    | "table"
    | "quote"
    /** Notifies people. `text` is as the platform reads it. */
    | "mention";
  readonly text: string;
  /** Of a link. */
  readonly url?: string;
}
