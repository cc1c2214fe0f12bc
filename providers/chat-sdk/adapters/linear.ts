import type { Adapter } from "chat";
import type { CallFailure } from "../../../src/core/surface.ts";
import type { ErrorFacts } from "../error-facts.ts";
import type { FailedCall } from "../failed-call.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { badRequest, credentialsRefused, noRights, rateLimited, scopeOf } from "./refusals.ts";

export const linear: AdapterProfile = {
  capabilities: { supportsActions: false },
  sendsFiles: false,
  // Linear counts the calls of an hour, for the account.
  pacing: { global: { burst: 20, everyMs: 1000 } },
  readFailure,
  stateKind: (key) => (key.startsWith("linear:installation:") ? "secret" : undefined),
  keepsSecrets: isForManyWorkspaces,
};

/** An app that workspaces install has a token for each of them. */
function isForManyWorkspaces(adapter: Adapter): boolean {
  return ["oauthClientId", "oauthClientSecret"].every((name) => Boolean(Reflect.get(adapter, name)));
}

/** Waiting time of a rate limit that names none: Linear counts in hours and refills all the time. */
const DEFAULT_WAIT_MS = 60_000;

/** Reads the type that Linear gives an error. Its status is 400 for most of them, also for a rate limit. */
function readFailure({ errors, retryAfterMs }: ErrorFacts, call: FailedCall): CallFailure | undefined {
  const [error] = errors;
  // The comment exists. Only the question for its id has failed.
  if (typeof error?.query === "string" && !/^\s*mutation\b/.test(error.query)) {
    return { kind: "unknown", code: "no-answer" };
  }
  switch (error?.type) {
    case "Ratelimited":
      return rateLimited(retryAfterMs ?? DEFAULT_WAIT_MS);
    case "AuthenticationError":
      return credentialsRefused;
    case "Forbidden":
    case "FeatureNotAccessible":
      return noRights(call, scopeOf(call));
    case "InvalidInput":
    case "GraphqlError":
    case "UserError":
    case "UsageLimitExceeded":
      return badRequest;
    default:
      return undefined;
  }
}
