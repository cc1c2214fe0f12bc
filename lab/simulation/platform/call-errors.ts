import type { CallFailure } from "../../../src/core/chat/surface.ts";
import { PlatformRefusal, RICH } from "./platform.ts";

/** A call without a usable answer. */
export class Disconnected extends Error {}
/** A gateway's answer, which does not say whether the call was done. */
export class GatewayError extends Error {}
/** A call that was certainly not done. */
export class NotDone extends Error {}
export class Unauthorized extends Error {}

export function classifyError(error: unknown): CallFailure {
  if (error instanceof NotDone) return { kind: "transient", code: "no-connection" };
  if (error instanceof Unauthorized) return { kind: "misconfigured", code: "token-refused" };
  if (!(error instanceof PlatformRefusal)) return { kind: "unknown", code: "connection-lost" };
  const { refusal } = error;
  switch (refusal.kind) {
    case "flood":
      return { kind: "retry-after", code: "too-many-requests", retryAfterMs: refusal.retryAfterS * 1_000 };
    case "blocked":
      return { kind: "gone", code: "blocked" };
    case "not-found":
    case "not-there":
      return { kind: "missing", code: "message-missing" };
    case "locked":
      return { kind: "missing", code: "message-locked", isLocked: true };
    case "not-modified":
      return { kind: "unchanged", code: "message-not-modified" };
    case "file-id":
      return { kind: "rejected", code: "file-unknown", about: "file-id" };
    case "bad-request":
      return { kind: "rejected", code: "bad-request" };
    case "blocks":
      return { kind: "rejected", code: refusal.isUnknown ? RICH.unsupportedCode : RICH.refusedCode };
    default:
      return refusal satisfies never;
  }
}

/** Whether the platform would refuse the call every time. */
export function isFinalRefusal(error: unknown): boolean {
  const { kind, code } = classifyError(error);
  // Text of refused blocks is sent without them, also in a draft.
  if (code === RICH.unsupportedCode || code === RICH.refusedCode) return false;
  return kind === "gone" || kind === "missing" || kind === "rejected" || kind === "misconfigured";
}

export function retryAfterOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("refusal" in error)) return undefined;
  const { refusal } = error as { refusal: { kind: string; retryAfterS?: number } };
  return refusal.kind === "flood" ? refusal.retryAfterS : undefined;
}
