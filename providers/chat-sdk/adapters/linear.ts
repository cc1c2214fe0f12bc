import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import { linearMarkdown } from "../markup/markdown.ts";
import { linearSearch } from "./search/linear.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { answerAutomations, readUnreported } from "./linear-changes.ts";
import { linearInstallations } from "./linear-installations.ts";
import { pauseOf, watchAnswers } from "./linear-limits.ts";
import { hasSessions, isSession, isStop, postToLinear } from "./linear-posts.ts";
import {
  appRefused,
  badRequest,
  credentialsRefused,
  locked,
  noRights,
  notFound,
  rateLimited,
  scopeOf,
  unavailable,
} from "./refusals.ts";

export const linear: AdapterProfile = {
  // Activities of a session can only be added.
  capabilitiesOf: (adapter) => (hasSessions(adapter) ? { canEditMessages: false } : {}),
  // Linear documents no limit.
  capabilities: { supportsActions: false, maxMessageLength: 10_000 },
  markup: linearMarkdown,
  // Everybody who follows the issue hears of a comment when it is posted.
  mode: "final-only",
  sendsFiles: false,
  // Linear counts the calls of an hour, for the account.
  pacing: { global: { burst: 20, everyMs: 1000 } },
  limitsAccount: true,
  readFailure,
  prepare: (adapter) => {
    watchAnswers(adapter);
    answerAutomations(adapter);
  },
  pauseOf,
  post: postToLinear,
  // A thought stays until the next activity. Comments have nothing like it.
  typing: (adapter) => (hasSessions(adapter) ? { lastsMs: THOUGHT_MS } : "none"),
  // A session without an activity within ten seconds is shown as not responding.
  wantsSign: isSession,
  isStop,
  readUnreported,
  stateKind: (key) => (key.startsWith("linear:installation:") ? "secret" : undefined),
  keepsSecrets: linearInstallations.isUsed,
  installations: linearInstallations,
  search: linearSearch,
};

/** A session without an activity for half an hour is shown as stale. */
const THOUGHT_MS = 10 * 60_000;

/** Waiting time of a rate limit that names none: Linear counts in hours and refills all the time. */
const DEFAULT_WAIT_MS = 60_000;

/** The issue, or the first comment or the session of the thread, is deleted; or the comment to change. */
const NOT_FOUND = /Entity not found: (Issue|Comment|AgentSession)\b/;

/** Reads the type that Linear gives an error. Its status is 400 for most of them, also for a rate limit. */
function readFailure(
  { errors, message, retryAfterMs }: ErrorFacts,
  call: FailedCall,
): CallFailure | undefined {
  const [error] = errors;
  // Any answer without a token gets this class.
  if (error?.name === "AuthenticationError" && /: (?:429|5\d\d)\b/.test(String(error.message)))
    return unavailable;
  if (message.includes('"invalid_client"')) return appRefused;
  if (message.includes("append-only")) return locked;
  // The comment exists. Only the question for its id has failed.
  if (typeof error?.query === "string" && !/^\s*mutation\b/.test(error.query)) {
    return { kind: "unknown", code: "no-answer" };
  }
  switch (error?.type) {
    case "Ratelimited":
      return rateLimited(retryAfterMs ?? resetOf(error, call.now) ?? DEFAULT_WAIT_MS);
    case "AuthenticationError":
      return credentialsRefused;
    case "Forbidden":
    case "FeatureNotAccessible":
      return noRights(call, scopeOf(call));
    case "InvalidInput": {
      const [, missing] = NOT_FOUND.exec(String(error.message)) ?? [];
      return missing === undefined
        ? badRequest
        : notFound(call, missing === "Issue" ? undefined : scopeOf(call));
    }
    case "LockTimeout":
      return unavailable;
    case "GraphqlError":
    case "UserError":
    case "UsageLimitExceeded":
      return badRequest;
    default:
      return undefined;
  }
}

/** Returns the time until the limit that is used up is reset, in milliseconds. Linear tells it for calls and for complexity. */
function resetOf(error: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const waits = ["requests", "complexity"].flatMap((limit) => {
    const resetAt = error[`${limit}ResetAt`];
    return error[`${limit}Remaining`] === 0 && typeof resetAt === "number" ? Math.max(0, resetAt - now) : [];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}
