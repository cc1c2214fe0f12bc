import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { FailedCall } from "../errors/failed-call.ts";

/** Waiting time of a rate limit that names none, in milliseconds. */
const DEFAULT_RETRY_AFTER_MS = 5000;

export function rateLimited(retryAfterMs: number | undefined, isOfAccount = false): CallFailure {
  return {
    kind: "retry-after",
    code: "too-many-requests",
    retryAfterMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS,
    ...(isOfAccount && { isOfAccount }),
  };
}

export const credentialsRefused: CallFailure = { kind: "misconfigured", code: "credentials-refused" };

/** The token is good, and lacks the right to this call. */
export const scopeMissing: CallFailure = { kind: "misconfigured", code: "scope-missing" };

/** Those of the app itself, whatever the installation. */
export const appRefused: CallFailure = { kind: "misconfigured", code: "app-refused" };

export const badRequest: CallFailure = { kind: "rejected", code: "bad-request" };

/** The platform has certainly done nothing, and may do it later. */
export const unavailable: CallFailure = { kind: "transient", code: "server-unavailable" };

/** The end of a thread leaves the other threads of its chat open. */
export function scopeOf({ isInThread }: Pick<FailedCall, "isInThread">): "thread" | undefined {
  return isInThread ? "thread" : undefined;
}

/**
 * Platforms refuse changes to old messages and to messages of others. Only a refused post means that the place is
 * closed.
 */
export function noRights({ method }: Pick<FailedCall, "method">, scope?: "thread"): CallFailure {
  if (isChange(method)) return { kind: "rejected", code: "no-rights" };
  return { kind: "gone", code: "no-rights", ...(scope !== undefined && { scope }) };
}

/** The message of a change, or the place of a post, does not exist. */
export function notFound({ method }: Pick<FailedCall, "method">, scope?: "thread"): CallFailure {
  if (isChange(method)) return { kind: "missing", code: "message-missing" };
  return { kind: "gone", code: "chat-missing", ...(scope !== undefined && { scope }) };
}

/** The message still exists, but can no longer be changed. */
export const locked: CallFailure = { kind: "missing", code: "message-locked", isLocked: true };

function isChange(method: FailedCall["method"]): boolean {
  return method === "edit" || method === "remove";
}
