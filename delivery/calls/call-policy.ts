import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import { restAfter } from "../../src/core/base/rest-after.ts";
import type { CallFailure } from "../../src/core/chat/surface.ts";

/** Every kind of call to a platform. `append` adds text to a streamed message, `end` ends its stream. */
export type CallMethod =
  | "post"
  | "edit"
  | "remove"
  | "append"
  | "end"
  | "draft"
  | "probe"
  | "typing"
  | "answer"
  | "mark";

/**
 * The reaction to a failed call.
 *
 * - `done`: nothing to do; the goal of the call is already reached
 * - `wait`: a penalty; nothing goes to the chat until it is over (I8)
 * - `retry`, `retry-slowly`: try again after a backoff; `retry-slowly` also tells the owner
 * - `doubt`: a post that may have been made (I6)
 * - `gone`: the chat accepts nothing any more
 * - `move`: the chat continues under another id
 * - `replace`: the message no longer exists, because a person deleted it
 * - `refuse`: the platform does not accept this content
 * - `leave`: a surplus message cannot be removed
 * - `abandon`: stop using this kind of call; the reply continues with ordinary messages and edits
 * - `insist`: try again a few times, then `abandon`
 * - `undecided`: the search cannot find out anything
 * - `ignore`: the call is not worth a second try
 */
export type Rule =
  | "done"
  | "wait"
  | "retry"
  | "retry-slowly"
  | "doubt"
  | "gone"
  | "move"
  | "replace"
  | "refuse"
  | "leave"
  | "abandon"
  | "insist"
  | "undecided"
  | "ignore";

type Rules<Allowed extends Rule> = Readonly<Record<CallFailure["kind"], Allowed>>;

/**
 * The error class is the recovery decision: one rule for each kind of call and each kind of failure. Every caller asks
 * this table, and nothing else decides about failures.
 */
export const CALL_RULES = {
  post: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "doubt",
    gone: "gone",
    moved: "move",
    // A post names no message of ours. So the missing thing is the topic or the quoted message.
    missing: "refuse",
    unchanged: "refuse",
    rejected: "refuse",
    misconfigured: "retry-slowly",
  },
  edit: {
    "retry-after": "wait",
    transient: "retry",
    // Repeating an edit does no harm.
    unknown: "retry",
    gone: "gone",
    moved: "move",
    missing: "replace",
    unchanged: "done",
    rejected: "refuse",
    misconfigured: "retry-slowly",
  },
  remove: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    gone: "gone",
    moved: "move",
    missing: "done",
    unchanged: "done",
    rejected: "leave",
    misconfigured: "retry-slowly",
  },
  append: {
    "retry-after": "wait",
    transient: "retry",
    // Repeating an addition could show it twice. An edit then sends the whole text.
    unknown: "abandon",
    gone: "gone",
    moved: "move",
    missing: "abandon",
    unchanged: "abandon",
    rejected: "abandon",
    misconfigured: "abandon",
  },
  end: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    gone: "gone",
    moved: "move",
    // The next edit finds out the reason.
    missing: "abandon",
    unchanged: "abandon",
    // A message with an open stream cannot be edited, and posting it again would change its place.
    rejected: "insist",
    misconfigured: "retry-slowly",
  },
  draft: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    // The next message finds out the reason.
    gone: "abandon",
    moved: "abandon",
    missing: "abandon",
    unchanged: "done",
    rejected: "abandon",
    misconfigured: "abandon",
  },
  probe: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    gone: "gone",
    moved: "move",
    missing: "undecided",
    unchanged: "undecided",
    rejected: "undecided",
    misconfigured: "retry",
  },
  typing: {
    "retry-after": "wait",
    transient: "ignore",
    unknown: "ignore",
    gone: "ignore",
    moved: "ignore",
    missing: "ignore",
    unchanged: "ignore",
    rejected: "ignore",
    misconfigured: "ignore",
  },
  answer: {
    "retry-after": "wait",
    // Repeating a note does no harm. A message is not repeated after `unknown`.
    transient: "retry",
    unknown: "retry",
    gone: "ignore",
    moved: "ignore",
    missing: "ignore",
    unchanged: "ignore",
    rejected: "ignore",
    misconfigured: "ignore",
  },
  // A reaction or a pin.
  mark: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    // A bot that may not pin can still write. If the chat is gone, the next message finds it out.
    gone: "refuse",
    moved: "refuse",
    missing: "refuse",
    unchanged: "done",
    rejected: "refuse",
    misconfigured: "retry-slowly",
  },
} as const satisfies Readonly<Record<CallMethod, Rules<Rule>>>;

export interface CallContext {
  /** True for interim content: more text may follow. */
  readonly isInterim: boolean;
  /** True if the content has no entities that could be left out. */
  readonly isPlain: boolean;
  /** True if the post quotes the message that it answers. */
  readonly isQuoting: boolean;
  /** Number of earlier posts of this row that ended without an answer. */
  readonly doubts: number;
  /** True if this post can be searched for, should it be lost. */
  readonly isSearchable: boolean;
  readonly onUnknown: NonNullable<ReplyPolicy["onUnknown"]>;
  /** True if the platform allows a search for lost posts. */
  readonly canSearch: boolean;
  /** True if the message is not posted again: it already replaces one that could not be edited, or is not needed. */
  readonly isReplacement: boolean;
  /** True if the message has shown its whole text before. */
  readonly wasWhole: boolean;
  /** Time since this call first failed, in milliseconds. */
  readonly failingForMs: number;
}

export type Decision =
  | { readonly kind: "done" }
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "retry"; readonly delayMs: number; readonly tellOwner: boolean }
  /** The reply cannot be completed. */
  | { readonly kind: "give-up" }
  /** Search for the lost post. */
  | { readonly kind: "search" }
  /** Post again after `delayMs`, with or without a mark, unless the first post is answered before. */
  | { readonly kind: "resend"; readonly delayMs: number }
  /** No answer, and no retries left. The message may be visible. After `delayMs` the reply continues without it. */
  | { readonly kind: "leave-unknown"; readonly delayMs: number }
  | { readonly kind: "gone" }
  | { readonly kind: "move" }
  /** Post the part again. */
  | { readonly kind: "repost" }
  /** A person deleted the message after reading it. It is not posted again. */
  | { readonly kind: "forget" }
  /** Send the same text without entities, at once. */
  | { readonly kind: "plain" }
  /** Send the same message without the quote, at once. */
  | { readonly kind: "unquoted" }
  /** Wait until the text changes. */
  | { readonly kind: "skip" }
  | { readonly kind: "fail" };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 60_000;
/**
 * A refused token may be a short problem of the platform, so the first retry comes soon. A wrong token is tried once a
 * minute.
 */
const FIRST_SLOW_BACKOFF_MS = 2_000;
const LONGEST_SLOW_BACKOFF_MS = 60_000;
/** Time in which a timed out post may still be answered. */
const RESEND_DELAY_MS = 2_000;
export const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;
/** The owner may need a weekend to replace a token. */
export const GIVE_UP_MISCONFIGURED_AFTER_MS = 3 * GIVE_UP_AFTER_MS;

/**
 * Returns how many posts of a row may end without an answer and without a search, before the row is left alone (I6). A
 * message that says it was sent again does less harm than a missing answer, and a process that is killed again and
 * again may lose several in a row. If the platform allows a search, most lost posts are found, so the number is higher.
 */
export function mostDoubts(onUnknown: CallContext["onUnknown"], canSearch: boolean): number {
  if (onUnknown === "leave") return 1;
  if (onUnknown === "resend") return 2;
  return canSearch ? 5 : 3;
}

/** Calls that change the message of a row. */
export type RowMethod = "post" | "edit" | "remove";

/** Decides what to do about a failed call of a row. Pure. `random` in [0, 1) spreads the retries. */
export function decide(
  method: RowMethod,
  failure: CallFailure,
  context: CallContext,
  random: number,
): Decision {
  const rule = CALL_RULES[method][failure.kind];
  switch (rule) {
    case "done":
      return { kind: "done" };
    case "wait":
      return { kind: "wait", delayMs: failure.kind === "retry-after" ? failure.retryAfterMs : 0 };
    case "retry":
      return context.failingForMs > GIVE_UP_AFTER_MS && !context.isInterim
        ? { kind: "give-up" }
        : { kind: "retry", delayMs: retryDelayMs(context.failingForMs, random), tellOwner: false };
    case "retry-slowly":
      return context.failingForMs > GIVE_UP_MISCONFIGURED_AFTER_MS && !context.isInterim
        ? { kind: "give-up" }
        : { kind: "retry", delayMs: slowRetryDelayMs(context.failingForMs, random), tellOwner: true };
    case "doubt":
      if (context.isSearchable) return { kind: "search" };
      return context.doubts + 1 < mostDoubts(context.onUnknown, context.canSearch)
        ? { kind: "resend", delayMs: RESEND_DELAY_MS }
        : { kind: "leave-unknown", delayMs: RESEND_DELAY_MS };
    case "gone":
      return { kind: "gone" };
    case "move":
      return { kind: "move" };
    case "replace":
      if (context.wasWhole || context.isReplacement) return { kind: "forget" };
      // The message stays as it is. A new one may be locked as well, so it must have the whole text.
      return { kind: isLocked(failure) && context.isInterim ? "skip" : "repost" };
    case "refuse":
      // The quoted message is the only one that a post names.
      if (context.isQuoting && (failure.kind === "missing" || context.isPlain)) return { kind: "unquoted" };
      if (!context.isPlain) return { kind: "plain" };
      if (context.isInterim) return { kind: "skip" };
      // Maybe only this message cannot be changed, and the text is fine. So the text is posted again.
      return method === "edit" && !context.isReplacement ? { kind: "repost" } : { kind: "fail" };
    case "leave":
      return { kind: "fail" };
    default:
      return rule satisfies never;
  }
}

/** Whether the message exists, and can no longer be changed. */
export function isLocked(failure: CallFailure): boolean {
  return failure.kind === "missing" && failure.isLocked === true;
}

/** Waits as long as the call has been failing, from half a second to a minute. The jitter subtracts up to half. */
function retryDelayMs(failingForMs: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, failingForMs));
  return Math.round(full * (1 - random / 2));
}

/** Waits as long as the call has been failing, from two seconds to a minute. The jitter adds up to half. */
function slowRetryDelayMs(failingForMs: number, random: number): number {
  const full = Math.min(LONGEST_SLOW_BACKOFF_MS, Math.max(FIRST_SLOW_BACKOFF_MS, failingForMs));
  return Math.round(full * (1 + random / 2));
}

/** Doubles with each failure, from half a second to a minute. The jitter subtracts up to half. */
export function backoffMs(failures: number, random: number): number {
  const full = restAfter(failures + 1, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS);
  return Math.round(full * (1 - random / 2));
}
