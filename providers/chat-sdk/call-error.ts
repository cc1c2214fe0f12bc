import { SwitchboardError } from "../../src/core/errors.ts";
import type { CallFailure } from "../../src/core/surface.ts";

export type CallMethod = "post" | "edit" | "remove" | "typing";

/**
 * A failed call through an adapter. It does not contain the adapter's own error, which may hold a token, an address or
 * the text that was sent (I10).
 */
export class ChatSdkCallError extends SwitchboardError {
  readonly failure: CallFailure;

  constructor(method: CallMethod | "initialize", failure: CallFailure) {
    super(failure.code, `The adapter's ${method} failed: ${failure.code}.`);
    this.name = "ChatSdkCallError";
    this.failure = failure;
  }
}

/** Waiting time of a rate-limit refusal that names none. */
const defaultRetryAfterMs = 5000;

/** Codes of a connection that was never made, as Node and HTTP clients report them. */
const neverConnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Classifies any error of an adapter, in this order:
 * 1. The SDK's own classes. They are recognized by name, because a bundle may contain the SDK twice.
 * 2. The HTTP status of other errors.
 * 3. Anything else is `unknown`.
 */
export function adapterFailure(method: CallMethod, error: unknown): CallFailure {
  const { name, message, status, retryAfterMs } = factsOf(error);
  switch (name) {
    case "AdapterRateLimitError":
    case "RateLimitError":
      return {
        kind: "retry-after",
        code: "too-many-requests",
        retryAfterMs: retryAfterMs ?? defaultRetryAfterMs,
      };
    case "AuthenticationError":
      return { kind: "misconfigured", code: "credentials-refused" };
    case "PermissionError":
      return noRights(method);
    case "ResourceNotFoundError":
      return notFound(method);
    case "ValidationError":
      if (/not modified/i.test(message)) return { kind: "unchanged", code: "message-not-modified" };
      return { kind: "rejected", code: "bad-request" };
    case "NotImplementedError":
      return { kind: "rejected", code: "not-supported" };
    default:
      return statusFailure(method, status, retryAfterMs) ?? connectionFailure(error);
  }
}

/**
 * Platforms refuse changes to old messages and to messages of others. Only a refused post means that the chat is
 * closed.
 */
function noRights(method: CallMethod): CallFailure {
  return method === "edit" || method === "remove"
    ? { kind: "rejected", code: "no-rights" }
    : { kind: "gone", code: "no-rights" };
}

function notFound(method: CallMethod): CallFailure {
  return method === "edit" || method === "remove"
    ? { kind: "missing", code: "message-missing" }
    : { kind: "gone", code: "chat-missing" };
}

function statusFailure(
  method: CallMethod,
  status: number | undefined,
  retryAfterMs: number | undefined,
): CallFailure | undefined {
  if (status === undefined || status < 400) return undefined;
  if (status === 429) {
    return {
      kind: "retry-after",
      code: "too-many-requests",
      retryAfterMs: retryAfterMs ?? defaultRetryAfterMs,
    };
  }
  if (status === 401) return { kind: "misconfigured", code: "credentials-refused" };
  if (status === 403) return noRights(method);
  if (status === 404) return notFound(method);
  if (status === 503) return { kind: "transient", code: "server-unavailable" };
  if (status >= 500 || status === 408) return { kind: "unknown", code: "server-error" };
  return { kind: "rejected", code: "bad-request" };
}

function connectionFailure(error: unknown): CallFailure {
  for (let cause = error, depth = 0; isRecord(cause) && depth < 5; depth += 1) {
    if (typeof cause.code === "string" && neverConnected.has(cause.code)) {
      return { kind: "transient", code: "no-connection" };
    }
    cause = cause.originalError ?? cause.cause;
  }
  return { kind: "unknown", code: "no-answer" };
}

function factsOf(error: unknown): {
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
} {
  const record = isRecord(error) ? error : {};
  const response = isRecord(record.response) ? record.response : {};
  const status = [record.status, record.statusCode, response.status].find((one) => typeof one === "number");
  // `retryAfter` counts seconds in the adapters' errors; `retryAfterMs` counts milliseconds in the SDK's own.
  const seconds = typeof record.retryAfter === "number" ? record.retryAfter * 1000 : undefined;
  const retryAfterMs = typeof record.retryAfterMs === "number" ? record.retryAfterMs : seconds;
  return {
    name: typeof record.name === "string" ? record.name : "",
    message: typeof record.message === "string" ? record.message : "",
    status,
    retryAfterMs: retryAfterMs !== undefined && retryAfterMs >= 0 ? Math.ceil(retryAfterMs) : undefined,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
