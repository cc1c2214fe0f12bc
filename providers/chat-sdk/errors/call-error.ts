import { SwitchboardError } from "../../../src/core/base/errors.ts";
import { isNeverConnected } from "../../../src/core/chat/never-connected.ts";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { AdapterProfile } from "../adapters/adapter-profile.ts";
import {
  badRequest,
  credentialsRefused,
  noRights,
  notFound,
  rateLimited,
  unavailable,
} from "../adapters/refusals.ts";
import type { ErrorFacts } from "./error-facts.ts";
import type { CallMethod, FailedCall } from "./failed-call.ts";

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

const TOO_LARGE = "too-large";

/** Returns the error of a failed post with files. One that is too large is so because of its files. */
export function aboutFiles(error: unknown): unknown {
  if (!(error instanceof ChatSdkCallError)) return error;
  const { failure } = error;
  if (failure.kind !== "rejected" || failure.code !== TOO_LARGE) return error;
  return new ChatSdkCallError("post", { ...failure, about: "file" });
}

/**
 * Classifies any error of an adapter, in this order:
 * 1. A connection that was never made.
 * 2. The platform's own words, if the adapter is known.
 * 3. The SDK's own classes. They are recognized by name, because a bundle may contain the SDK twice.
 * 4. The HTTP status of other errors.
 * 5. Anything else is `unknown`.
 */
export function adapterFailure(facts: ErrorFacts, call: FailedCall, profile: AdapterProfile): CallFailure {
  const { errors } = facts;
  if (errors.some(({ code }) => isNeverConnected(code))) {
    return { kind: "transient", code: "no-connection" };
  }
  return (
    profile.readFailure?.(facts, call) ??
    classFailure(facts, call) ??
    statusFailure(facts, call) ?? { kind: "unknown", code: "no-answer" }
  );
}

function classFailure(
  { message, name, retryAfterMs }: ErrorFacts,
  call: FailedCall,
): CallFailure | undefined {
  switch (name) {
    case "AdapterRateLimitError":
    case "RateLimitError":
      return rateLimited(retryAfterMs);
    case "AuthenticationError":
      return credentialsRefused;
    case "PermissionError":
      return noRights(call);
    case "ResourceNotFoundError":
      return notFound(call);
    case "ValidationError":
      if (/not modified/i.test(message)) return { kind: "unchanged", code: "message-not-modified" };
      return badRequest;
    case "NotImplementedError":
      return { kind: "rejected", code: "not-supported" };
    default:
      return undefined;
  }
}

function statusFailure({ retryAfterMs, status }: ErrorFacts, call: FailedCall): CallFailure | undefined {
  if (status === undefined || status < 400) return undefined;
  if (status === 429) return rateLimited(retryAfterMs);
  if (status === 401) return credentialsRefused;
  if (status === 403) return noRights(call);
  if (status === 404) return notFound(call);
  if (status === 413) return { kind: "rejected", code: TOO_LARGE };
  if (status === 503)
    return retryAfterMs === undefined
      ? unavailable
      : { kind: "retry-after", code: unavailable.code, retryAfterMs };
  if (status >= 500 || status === 408) return { kind: "unknown", code: "server-error" };
  return badRequest;
}
