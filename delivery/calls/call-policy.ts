import type { ReplyPolicy } from "../../src/core/delivery.ts";
import type { CallFailure } from "../../src/core/surface.ts";

/** Every kind of call to a platform. `append` adds to a message that is streamed into, `end` ends its stream. */
export type CallMethod =
  | "post"
  | "edit"
  | "remove"
  | "append"
  | "end"
  | "draft"
  | "probe"
  | "typing"
  | "answer";

/**
 * What follows from a failed call.
 *
 * - `done`: what the call was for is so already
 * - `wait`: a penalty; nothing goes to the chat until it is over (I8)
 * - `retry`, `retry-slowly`: again after a backoff; `retry-slowly` also tells the owner
 * - `doubt`: a post that may have happened (I6)
 * - `gone`: the chat takes nothing any more
 * - `move`: the chat goes on under another id
 * - `replace`: the message is not there any more: a person deleted it
 * - `refuse`: the platform does not take this content
 * - `leave`: a surplus message cannot be taken away
 * - `abandon`: not in this way; the reply goes on with ordinary messages and edits
 * - `insist`: again a few times, then `abandon`
 * - `undecided`: nothing can be found out
 * - `ignore`: the call is not worth a second one
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
 * The error class is the recovery decision: one rule for each kind of call and of failure. Whoever makes a call asks
 * this table, and nothing else says what a failure means.
 */
export const CALL_RULES = {
  post: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "doubt",
    gone: "gone",
    moved: "move",
    // A post names no message of ours; a platform that says so refuses what it names (a topic, a quoted message).
    missing: "refuse",
    unchanged: "refuse",
    rejected: "refuse",
    misconfigured: "retry-slowly",
  },
  edit: {
    "retry-after": "wait",
    transient: "retry",
    // An edit twice is an edit once.
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
    // An addition that may have been made is not made twice: an edit says the whole text.
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
    // The edit that follows finds out why.
    missing: "abandon",
    unchanged: "abandon",
    // A message whose stream is open cannot be edited, and one that is posted anew loses its place.
    rejected: "insist",
    misconfigured: "retry-slowly",
  },
  draft: {
    "retry-after": "wait",
    transient: "retry",
    unknown: "retry",
    // Whatever it is, a message finds out the rest.
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
    // An answer twice is an answer once.
    transient: "retry",
    unknown: "retry",
    gone: "ignore",
    moved: "ignore",
    missing: "ignore",
    unchanged: "ignore",
    rejected: "ignore",
    misconfigured: "ignore",
  },
} as const satisfies Readonly<Record<CallMethod, Rules<Rule>>>;

export interface CallContext {
  /** More text may follow: the content is not the last word. */
  readonly isInterim: boolean;
  /** There are no entities that could be left out. */
  readonly isPlain: boolean;
  /** The post quotes the message that it answers. */
  readonly isQuoting: boolean;
  /** How many posts of this row ended without an answer before this call. */
  readonly doubts: number;
  /** It can be found out what became of a post that is lost now. */
  readonly isSearchable: boolean;
  readonly onUnknown: NonNullable<ReplyPolicy["onUnknown"]>;
  /** The platform is one where lost posts can be looked for. */
  readonly canProbe: boolean;
  /** The message already replaces one that could not be edited. */
  readonly isReplacement: boolean;
  /** The message has shown its whole text once. */
  readonly wasWhole: boolean;
  /** Since when this call has been failing. */
  readonly failingForMs: number;
}

export type Decision =
  | { readonly kind: "done" }
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "retry"; readonly delayMs: number; readonly tellOwner: boolean }
  /** The reply cannot be completed. */
  | { readonly kind: "give-up" }
  /** Find out what became of it. */
  | { readonly kind: "search" }
  /** Post it again, marked or not, after `delayMs`, unless the first post is heard of until then. */
  | { readonly kind: "resend"; readonly delayMs: number }
  /** Without an answer as often as the policy bears: what may be visible stays, and after `delayMs` it goes on without the row. */
  | { readonly kind: "leave-unknown"; readonly delayMs: number }
  | { readonly kind: "gone" }
  | { readonly kind: "move" }
  /** Post the part anew. */
  | { readonly kind: "repost" }
  /** A person deleted what they had read: that is respected. */
  | { readonly kind: "forget" }
  /** The same text without entities, at once. */
  | { readonly kind: "plain" }
  /** The same without the quoted message, at once. */
  | { readonly kind: "unquoted" }
  /** Wait for other text. */
  | { readonly kind: "skip" }
  | { readonly kind: "fail" };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 60_000;
/** A token that is refused may be a moment's trouble of the platform; one that is wrong is asked about each minute. */
const FIRST_SLOW_BACKOFF_MS = 2_000;
const LONGEST_SLOW_BACKOFF_MS = 60_000;
/** A timed out post may still land, and be heard of. */
const RESEND_DELAY_MS = 2_000;
export const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;
/** The owner may need a weekend to put a token right. */
export const GIVE_UP_MISCONFIGURED_AFTER_MS = 3 * GIVE_UP_AFTER_MS;

/**
 * How often a post may end without an answer, and without a way to find out, before it is left alone (I6). One that
 * says that it was sent again does less harm than an answer that never comes; several in a row may be lost under a
 * process that is killed again and again. Where posts can be looked for, most are found, so that more are borne.
 */
export function mostDoubts(onUnknown: CallContext["onUnknown"], canProbe: boolean): number {
  if (onUnknown === "leave") return 1;
  if (onUnknown === "resend") return 2;
  return canProbe ? 5 : 3;
}

/** Calls that change the message of a row. */
export type RowMethod = "post" | "edit" | "remove";

/** Pure: what to do about a failed call of a row. `random` in [0, 1) spreads the retries. */
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
      return context.doubts + 1 < mostDoubts(context.onUnknown, context.canProbe)
        ? { kind: "resend", delayMs: RESEND_DELAY_MS }
        : { kind: "leave-unknown", delayMs: RESEND_DELAY_MS };
    case "gone":
      return { kind: "gone" };
    case "move":
      return { kind: "move" };
    case "replace":
      return context.wasWhole || context.isReplacement ? { kind: "forget" } : { kind: "repost" };
    case "refuse":
      // A post names no message but the quoted one.
      if (context.isQuoting && (failure.kind === "missing" || context.isPlain)) return { kind: "unquoted" };
      if (!context.isPlain) return { kind: "plain" };
      if (context.isInterim) return { kind: "skip" };
      // It may be this message that cannot be changed, and not the text that cannot be shown.
      return method === "edit" && !context.isReplacement ? { kind: "repost" } : { kind: "fail" };
    case "leave":
      return { kind: "fail" };
    default:
      return rule satisfies never;
  }
}

/** As long as it has failed so far, from half a second to a minute; the jitter takes away up to half. */
function retryDelayMs(failingForMs: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, failingForMs));
  return Math.round(full * (1 - random / 2));
}

/** As long as it has failed so far, from two seconds to a minute; the jitter adds up to half. */
function slowRetryDelayMs(failingForMs: number, random: number): number {
  const full = Math.min(LONGEST_SLOW_BACKOFF_MS, Math.max(FIRST_SLOW_BACKOFF_MS, failingForMs));
  return Math.round(full * (1 + random / 2));
}

/** Doubles from half a second to a minute; the jitter takes away up to half. */
export function backoffMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures, 16));
  return Math.round(full * (1 - random / 2));
}
