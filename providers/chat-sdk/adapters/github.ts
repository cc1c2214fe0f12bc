import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import { blockMarkdown } from "../markup/markdown.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { readUnreported } from "./github-changes.ts";
import { githubInstallations, INSTALLATION_KEYS } from "./github-installations.ts";
import { findMistake, takeKeyOfApp } from "./github-key.ts";
import { pauseOf, watchAnswers } from "./github-limits.ts";
import { appRefused, noRights, notFound, rateLimited, scopeOf } from "./refusals.ts";
import { githubSearch } from "./search/github.ts";

export const github: AdapterProfile = {
  capabilities: { supportsActions: false, maxMessageLength: 65_536 },
  lengthUnit: "code-points",
  markup: blockMarkdown,
  // A comment is mailed as it was posted, and shows how often it was edited.
  mode: "final-only",
  sendsFiles: false,
  // An issue or a pull request, with the threads of its review. Nothing can be posted to a repository.
  chatIdOf: (threadId) => threadId.replace(/:rc:\d+$/, ""),
  // GitHub lists the comments of an issue, and those of a review, by ascending id. It tells their times in whole seconds.
  numbersThreads: true,
  // GitHub counts per account, however many issues there are, and asks for a second between two changes.
  pacing: { global: { burst: 5, everyMs: 1000 } },
  limitsAccount: true,
  readFailure,
  readUnreported,
  findMistake,
  prepare: (adapter) => {
    takeKeyOfApp(adapter);
    watchAnswers(adapter);
  },
  pauseOf,
  stateKind: (key) => (key.startsWith(INSTALLATION_KEYS) ? "kept" : undefined),
  installations: githubInstallations,
  search: githubSearch,
};

/** Waiting time of a rate limit that names none ("Rate limits for the REST API": at least a minute). */
const SECONDARY_WAIT_MS = 60_000;

/**
 * Tells a rate limit from a refusal, which both have the status 403. A refusal concerns one issue, which is locked,
 * deleted or transferred, or one thread of a review.
 */
function readFailure(facts: ErrorFacts, call: FailedCall): CallFailure | undefined {
  switch (facts.status) {
    case 401:
      return facts.errors.some(isOfApp) ? appRefused : undefined;
    case 403:
    case 429: {
      const waitMs = waitOf(facts, call.now);
      if (waitMs !== undefined) return rateLimited(waitMs);
      return facts.status === 403 ? noRights(call, scopeOf(call)) : rateLimited(SECONDARY_WAIT_MS);
    }
    case 404:
    case 410:
      return notFound(call, scopeOf(call));
    default:
      return undefined;
  }
}

/** Whether GitHub has refused the App when it asked for the token of an installation. */
function isOfApp({ request }: ErrorFacts["errors"][number]): boolean {
  return isRecord(request) && String(request.url).endsWith("/access_tokens");
}

/** Returns the waiting time in the order that GitHub documents. Undefined: not a rate limit. */
function waitOf({ body, header, message, retryAfterMs }: ErrorFacts, now: number): number | undefined {
  if (retryAfterMs !== undefined) return retryAfterMs;
  if (header("x-ratelimit-remaining") === "0") {
    const resetMs = Number(header("x-ratelimit-reset")) * 1000 - now;
    return Number.isFinite(resetMs) && resetMs > 0 ? resetMs : SECONDARY_WAIT_MS;
  }
  const { documentation_url: page } = isRecord(body) ? body : {};
  const isLimit =
    /rate limit|abuse detection/i.test(message) || (typeof page === "string" && page.includes("rate-limit"));
  return isLimit ? SECONDARY_WAIT_MS : undefined;
}
