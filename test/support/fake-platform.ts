import type { Clock } from "../../src/core/base/deps.ts";
import type { RichText, TextFormat, TextLimits } from "../../src/core/message/rich-text.ts";
import type {
  CallFailure,
  OutgoingContent,
  OutgoingMedia,
  Pacing,
  Surface,
  SurfaceCapabilities,
} from "../../src/core/chat/surface.ts";

export class FakeFailure extends Error {
  readonly failure: CallFailure;

  constructor(failure: CallFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

export type FakeMethod =
  | "post"
  | "edit"
  | "remove"
  | "typing"
  | "answer"
  | "probe"
  | "find"
  | "draft"
  | "begin"
  | "append"
  | "end"
  | "react"
  | "pin";

/**
 * What goes wrong with one call.
 *
 * - `fail`: refused with this class; nothing is done
 * - `lose`: done, or not, and the answer never comes: the caller sees a cut connection
 * - `hang`: no answer, whatever the signal says; with `answerAfterMs` done then, and answered
 * - `slow`: takes this long, and ends when the signal aborts
 */
export type Fault =
  | { readonly kind: "fail"; readonly failure: CallFailure }
  | { readonly kind: "lose"; readonly done: boolean }
  | { readonly kind: "hang"; readonly answerAfterMs?: number; readonly failure?: CallFailure }
  | { readonly kind: "slow"; readonly latencyMs: number };

export interface FakeCall {
  readonly at: number;
  readonly method: FakeMethod;
  readonly chatId: string;
  readonly messageId?: string;
  readonly text?: string;
  readonly entities?: number;
  readonly isRich?: boolean;
  readonly replyTo?: string;
  /** Labels of the buttons, row by row. */
  readonly buttons?: readonly (readonly string[])[];
  /** Kinds and sources of the files. */
  readonly files?: readonly string[];
  readonly silent?: boolean;
  readonly protect?: boolean;
  /** How the call ended; `pending` while it has not. */
  outcome: "pending" | "done" | CallFailure["kind"];
}

export interface FakeMessage {
  readonly id: string;
  text: string;
  entities: RichText["entities"];
  /** Of a rich message. */
  blocks?: RichText["blocks"];
  buttons?: OutgoingContent["buttons"];
  image?: OutgoingContent["image"];
  /** One file; each file of an album is a message. */
  file?: OutgoingMedia;
  location?: OutgoingContent["location"];
  /** It is too old to be deleted. */
  isLocked?: boolean;
  /** It is streamed into, and cannot be edited until that has ended. */
  isStreaming?: boolean;
  /** The key of its post, and when it was made (epoch milliseconds). */
  readonly key?: string | undefined;
  readonly at?: number;
  reaction?: string | undefined;
  isPinned?: boolean;
}

export interface FakeDraft {
  readonly id: number;
  readonly text: string;
  readonly until: number;
}

export interface FakeSurfaceOptions {
  /** Whether there are reactions and pins. @default true */
  readonly marks?: boolean;
  readonly clock: Clock;
  readonly latencyMs?: number;
  readonly limits?: TextLimits;
  readonly format?: TextFormat;
  /** The platform's own form of cards and replies, and its accounts. */
  readonly defaults?: Pick<Surface, "accountOf" | "cardFormat" | "editEveryMs" | "mode">;
  readonly pacing?: Pacing;
  readonly capabilities?: Partial<SurfaceCapabilities>;
  readonly typingLastsMs?: number;
  /** How long a draft lasts; without it there are none. */
  readonly draftLastsMs?: number;
  /** Limits of rich messages; without them there are none. */
  readonly rich?: TextLimits;
  /** Messages can be streamed into. */
  readonly streams?: boolean;
  /** Lost posts can be found again: ids are numbers of one box, of all chats or of each one. @default false */
  readonly probing?: boolean | "own-box";
  /**
   * Lost posts can be found in another way.
   *
   * - `keys`: the platform keeps the key of each message
   * - `lists`: it lists the messages since a time
   * - `repeats`: as `lists`, and it makes no second message with a key for 30 seconds
   */
  readonly search?: "keys" | "lists" | "repeats";
  /** Called before a call reaches the platform, and after it was done there. May throw: the caller has died. */
  readonly onBoundary?: (when: "before" | "after", method: FakeMethod) => void;
}

/** A platform in memory: chats with messages, refusals like those of a real one, and faults on demand. */
export interface FakeSurface extends Surface {
  readonly calls: readonly FakeCall[];
  /** Calls that reached a chat during its penalty. They are refused for the rest of it. */
  readonly penaltyBreaches: readonly FakeCall[];
  /** The next calls of this method meet these faults, one each; `undefined` lets one pass. */
  fault(method: FakeMethod, ...faults: readonly (Fault | undefined)[]): void;
  /** Every call of the method, or those that are meant, meet this fault until it is cleared with `undefined`. */
  faultAlways(method: FakeMethod, fault: Fault | undefined, isMeant?: (call: FakeCall) => boolean): void;
  /** Refuses rich messages with this code, `rich-unsupported` for all of them; takes them again without one. */
  refuseRich(code: string | undefined): void;
  /** The chat's messages in order. */
  messages(chatId: string): readonly FakeMessage[];
  visible(chatId: string): readonly string[];
  /** What the chat's draft shows, while it has not faded and no message has taken its place. */
  draft(chatId: string): string | undefined;
  /** Somebody else's message, in any chat of the box: takes an id. */
  numberForOther(): string;
  /** A message of the bot that this process knows nothing of. */
  postForeign(chatId: string, text: string): string;
  /** A person deletes a message. */
  deleteMessage(chatId: string, messageId: string): void;
  /** Labels of the buttons of each message, and `undefined` for one without. */
  keyboards(chatId: string): readonly (readonly (readonly string[])[] | undefined)[];
  /** No file is known by its id any more. */
  forgetFileIds(): void;
  /** Makes the platform know a file that somebody else has sent. */
  knowFile(fileId: string): void;
  /** The platform deletes none of these messages any more. */
  lockMessages(chatId: string): void;
  /** The same platform as another process sees it. */
  connect(options: Pick<FakeSurfaceOptions, "clock" | "onBoundary">): FakeSurface;
}
