import { SwitchboardError } from "../../src/core/base/errors.ts";
import { isNeverConnected } from "../../src/core/chat/never-connected.ts";
import type { CallFailure } from "../../src/core/chat/surface.ts";
import { placeOfChat } from "./routing.ts";

/**
 * A failed call to the Bot API. It holds the failure class for the engine, and nothing of the request or the response.
 * The original error is dropped on purpose: the token is part of every URL, and so of many messages and causes (I10).
 */
export class TelegramCallError extends SwitchboardError {
  /** The Bot API method. */
  readonly method: string;
  readonly failure: CallFailure;
  /** The Bot API's error code, or the HTTP status if a gateway answered. */
  readonly status: number | undefined;

  constructor(method: string, failure: CallFailure, status?: number) {
    super(failure.code, `The Bot API call ${method} failed: ${failure.code}${status ? ` (${status})` : ""}.`);
    this.name = "TelegramCallError";
    this.method = method;
    this.failure = failure;
    this.status = status;
  }
}

/** The Bot API's response to a refused call. */
export interface ApiRefusal {
  readonly errorCode: number;
  readonly description: string;
  readonly retryAfterS?: number | undefined;
  readonly migrateToChatId?: number | undefined;
}

type FileRefusal = "file-id" | "photo" | "voice" | "file";

type Fixed = Exclude<CallFailure["kind"], "retry-after" | "moved">;

/**
 * The meaning of the words of a 400 or 403; the first match counts. The Bot API does not promise its words. These are
 * from its published server and the client protocol behind it. Any other text is `rejected`, because the same call
 * would be refused again.
 */
const wordings: readonly (readonly [RegExp, Fixed, string, ("thread" | FileRefusal)?])[] = [
  // Refusals of files. They come first, because a chat may forbid files and allow text.
  [/VOICE_MESSAGES_FORBIDDEN/i, "rejected", "voice-forbidden", "voice"],
  [
    /CHAT_SEND_(?!PLAIN)\w+_FORBIDDEN|not enough rights to send (?!text)(?:\w+ )*(?:photo|document|audio|music|voice|video|animation|media|location)/i,
    "rejected",
    "media-forbidden",
    "file",
  ],
  [
    /wrong file identifier|wrong remote file|wrong file_id|FILE_REFERENCE_|invalid file_id/i,
    "rejected",
    "file-id-refused",
    "file-id",
  ],
  [
    /IMAGE_PROCESS_FAILED|PHOTO_(?:INVALID|EXT_INVALID|SAVE_FILE_INVALID|CONTENT_TYPE_INVALID|INVALID_DIMENSIONS)|can't use file of type/i,
    "rejected",
    "photo-refused",
    "photo",
  ],
  [
    /failed to get HTTP URL content|wrong type of the web page content|WEBPAGE_\w+|wrong HTTP URL/i,
    "rejected",
    "address-refused",
    "file",
  ],
  [/file is too big|file of size \d+ bytes is too big/i, "rejected", "too-large", "file"],
  [/file must be non-empty/i, "rejected", "file-empty", "file"],
  [/REACTION_INVALID|REACTIONS_TOO_MANY|REACTION_EMPTY/i, "rejected", "reaction-refused"],
  [/message is not modified|MESSAGE_NOT_MODIFIED/i, "unchanged", "message-not-modified"],
  [/(?:upgraded|migrated) to a supergroup/i, "gone", "chat-upgraded"],
  [
    /message to be replied not found|(?:reply message|message to reply) not found|REPLY_MESSAGE_ID_INVALID/i,
    "missing",
    "quoted-missing",
  ],
  [
    /message to (?:edit|delete|react|pin|unpin) not found|MESSAGE_ID_INVALID|message identifier is not/i,
    "missing",
    "message-missing",
  ],
  [
    /message can't be (?:edited|deleted)|MESSAGE_EDIT_TIME_EXPIRED|MESSAGE_DELETE_FORBIDDEN/i,
    "missing",
    "message-locked",
  ],
  [
    /RICH_MESSAGE_UNSUPPORTED|rich message must be non-empty|parse InputRichMessage\b/i,
    "rejected",
    "rich-unsupported",
  ],
  [/RICH_MESSAGE_|InputRich|rich message|rich text/i, "rejected", "rich-refused"],
  [/query is too old|query ID is invalid|QUERY_ID_INVALID/i, "missing", "query-expired"],
  [/can't parse|ENTITY|ENTITIES|entity beginning|unsupported start tag/i, "rejected", "entities-rejected"],
  [/message is too long|caption is too long|MESSAGE_TOO_LONG/i, "rejected", "text-too-long"],
  [/text is empty|text must be non-empty|MESSAGE_EMPTY/i, "rejected", "text-empty"],
  [/blocked by the user|USER_IS_BLOCKED/i, "gone", "blocked"],
  [/user is deactivated|USER_DEACTIVATED/i, "gone", "user-deactivated"],
  [/bot was kicked/i, "gone", "kicked"],
  [/group chat was (?:deactivated|deleted)|chat was deleted/i, "gone", "chat-deleted"],
  [/(?:chat|user) not found|PEER_ID_INVALID|CHAT_ID_INVALID|CHANNEL_INVALID/i, "gone", "chat-missing"],
  [/bot is not a (?:member|participant)|USER_NOT_PARTICIPANT|CHANNEL_PRIVATE/i, "gone", "not-a-member"],
  [/message thread not found|TOPIC_(?:ID_INVALID|DELETED)/i, "gone", "topic-missing", "thread"],
  [/TOPIC_CLOSED/i, "gone", "topic-closed", "thread"],
  [/can't (?:initiate conversation|send messages? to)/i, "gone", "conversation-impossible"],
  [
    /no rights|not enough rights|need administrator rights|WRITE_FORBIDDEN|CHAT_RESTRICTED|_FORBIDDEN/i,
    "gone",
    "no-rights",
  ],
];

/** The penalty if a 429 does not name its time. */
const defaultRetryAfterS = 5;

/** Classifies a response with `ok: false`. Never throws. */
export function refusalFailure(refusal: ApiRefusal): CallFailure {
  const { errorCode, description } = refusal;
  if (errorCode === 429 || errorCode === 420) {
    return retryAfter(refusal.retryAfterS ?? Number(/retry after (\d+)/i.exec(description)?.[1]));
  }
  if (refusal.migrateToChatId !== undefined) {
    return { kind: "moved", code: "chat-upgraded", to: placeOfChat(refusal.migrateToChatId) };
  }
  if (errorCode === 401) return { kind: "misconfigured", code: "token-refused" };
  if (errorCode === 404) return { kind: "misconfigured", code: "method-missing" };
  // Another program uses the token. A send itself does not conflict, so it is worth another try.
  if (errorCode === 409) return { kind: "transient", code: "conflict" };
  if (errorCode >= 500) return serverFailure(errorCode, description);
  for (const [pattern, kind, code, scope] of wordings) {
    if (!pattern.test(description)) continue;
    if (kind === "missing" && code === "message-locked") return { kind, code, isLocked: true };
    if (kind === "gone" && scope === "thread") return { kind, code, scope };
    if (kind === "rejected" && scope !== undefined && scope !== "thread") return { kind, code, about: scope };
    return { kind, code };
  }
  if (errorCode === 403) return { kind: "gone", code: "forbidden" };
  if (errorCode === 413) return { kind: "rejected", code: "too-large", about: "file" };
  return { kind: "rejected", code: "bad-request" };
}

/**
 * Classifies the Bot API's own 5xx, which means that it did nothing. There are three exceptions: a server that shuts
 * down abandons calls that it had already passed on, a gateway's time-out says nothing about the servers behind it, and
 * a message that the group's moderation deleted at once would be deleted again.
 */
function serverFailure(errorCode: number, description: string): CallFailure {
  if (/immediately deleted/i.test(description)) return { kind: "rejected", code: "deleted-at-once" };
  if (errorCode === 504) return { kind: "unknown", code: "gateway-timeout" };
  if (/restart|closed|request aborted/i.test(description))
    return { kind: "unknown", code: "server-restarted" };
  return { kind: "transient", code: "server-error" };
}

/**
 * Classifies a response that is not the Bot API's JSON. It comes from a proxy or gateway. If that could not pass the
 * request on, nothing was done. Anything else may have come after the Bot API did its work.
 */
export function gatewayFailure(status: number, retryAfterHeader: string | null): CallFailure {
  if (status === 429) return retryAfter(retryAfterHeader === null ? Number.NaN : Number(retryAfterHeader));
  if (status === 503) return { kind: "transient", code: "gateway-unavailable" };
  if (status === 413) return { kind: "rejected", code: "too-large", about: "file" };
  if (status >= 300 && status < 500 && status !== 408 && status !== 499) {
    return { kind: "misconfigured", code: "not-a-bot-api" };
  }
  return { kind: "unknown", code: status >= 500 ? "gateway-error" : "answer-unreadable" };
}

function retryAfter(seconds: number): CallFailure {
  const known = Number.isFinite(seconds) && seconds >= 0 ? seconds : defaultRetryAfterS;
  return { kind: "retry-after", code: "too-many-requests", retryAfterMs: Math.ceil(known * 1000) };
}

/**
 * Classifies a request without a response. Only Node tells a refused connection from one that was cut. workerd says
 * "Network connection lost." for both (tried 2026-11), so there every lost request is `unknown`.
 */
export function networkFailure(error: unknown, aborted: boolean): CallFailure {
  if (aborted) return { kind: "unknown", code: "timed-out" };
  for (let cause = error, depth = 0; isErrorLike(cause) && depth < 4; cause = cause.cause, depth += 1) {
    if (cause.name === "AbortError" || cause.name === "TimeoutError") {
      return { kind: "unknown", code: "timed-out" };
    }
    if (isNeverConnected(cause.code)) {
      return { kind: "transient", code: "no-connection" };
    }
  }
  return { kind: "unknown", code: "connection-lost" };
}

function isErrorLike(value: unknown): value is { name?: unknown; code?: unknown; cause?: unknown } {
  return typeof value === "object" && value !== null;
}
