/** Errors as the platforms document them, and their meaning. */
import type { CallFailure } from "../../../../src/core/chat/surface.ts";
import type { PlatformAnswer, RealAdapterName } from "./platform-stub.ts";

/** The clock of the context stands still here. */
const NOW_SECONDS = 1_800_000_000;

export type Method = "post" | "edit";

export const wait = (retryAfterMs: number, isOfAccount = false): CallFailure => ({
  kind: "retry-after",
  code: "too-many-requests",
  retryAfterMs,
  ...(isOfAccount && { isOfAccount }),
});
export const refusedCredentials: CallFailure = { kind: "misconfigured", code: "credentials-refused" };
const rejected: CallFailure = { kind: "rejected", code: "bad-request" };
const unclear: CallFailure = { kind: "unknown", code: "server-error" };
export const later: CallFailure = { kind: "transient", code: "server-unavailable" };
const laterIn = (retryAfterMs: number): CallFailure => ({
  kind: "retry-after",
  code: "server-unavailable",
  retryAfterMs,
});
const missing: CallFailure = { kind: "missing", code: "message-missing" };
const lockedMessage: CallFailure = { kind: "missing", code: "message-locked", isLocked: true };
export const gone = (code: string, scope?: "thread"): CallFailure => ({
  kind: "gone",
  code,
  ...(scope !== undefined && { scope }),
});

export type Case = readonly [name: string, answer: PlatformAnswer, failure: CallFailure, method?: Method];

const slackSays = (error: string): PlatformAnswer => ({ status: 200, body: { ok: false, error } });
export const discordSays = (status: number, code: number, more: object = {}): PlatformAnswer => ({
  status,
  body: { message: "the platform's own words", code, ...more },
});
const metaSays = (status: number, code: number): PlatformAnswer => ({
  status,
  body: { error: { message: `(#${code}) own words`, type: "OAuthException", code, fbtrace_id: "A" } },
});
export const gitHubSays = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): PlatformAnswer => ({
  status,
  headers,
  body: { message, documentation_url: "https://docs.github.com/rest" },
});
export const teamsSays = (status: number, code: string, headers = {}): PlatformAnswer => ({
  status,
  headers,
  body: { error: { code, message: "own words" } },
});
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const googleSays = (status: number, name: string, headers = {}, more: object = {}): PlatformAnswer => ({
  status,
  headers,
  body: { error: { code: status, message: "own words", status: name, ...more } },
});
export const linearSays = (
  status: number,
  type: string,
  headers = {},
  message = "own words",
): PlatformAnswer => ({
  status,
  headers,
  body: { errors: [{ message, extensions: { type, userError: true } }] },
});
const linearMisses = (entity: string): PlatformAnswer =>
  linearSays(400, "invalid input", {}, `Entity not found: ${entity} - Could not find referenced ${entity}.`);

export const tables: Readonly<Record<RealAdapterName, readonly Case[]>> = {
  slack: [
    ["a rate limit", { status: 429, headers: { "retry-after": "20" } }, wait(20_000)],
    ["a rate limit without a time", { status: 429 }, wait(5000)],
    ["a rate limit with the status 200", slackSays("ratelimited"), wait(5000)],
    ["a refused token", slackSays("invalid_auth"), refusedCredentials],
    ["a revoked token", slackSays("token_revoked"), refusedCredentials],
    ["a missing scope", slackSays("missing_scope"), { kind: "misconfigured", code: "scope-missing" }],
    ["an unknown channel", slackSays("channel_not_found"), gone("chat-closed")],
    ["an archived channel", slackSays("is_archived"), gone("chat-closed")],
    [
      "a thread that is locked",
      slackSays("restricted_action_thread_locked"),
      gone("thread-closed", "thread"),
    ],
    ["an edit of a message that is gone", slackSays("message_not_found"), missing, "edit"],
    ["an edit that comes too late", slackSays("edit_window_closed"), lockedMessage, "edit"],
    [
      "blocks that it cannot show",
      slackSays("invalid_blocks"),
      { kind: "transient", code: "blocks-refused" },
    ],
    ["a code that is new", slackSays("brand_new_error"), rejected],
    ["a service that is down", slackSays("service_unavailable"), later],
    ["an error in the middle", slackSays("internal_error"), unclear],
    ["a network that the workspace does not allow", slackSays("accesslimited"), refusedCredentials],
    ["a workspace that moves to another plan", slackSays("org_login_required"), later],
    ["a workspace that moves into an organization", slackSays("team_added_to_org"), later],
    ["an edit that failed inside of Slack", slackSays("update_failed"), unclear, "edit"],
    ["an edit of a message that another call streams", slackSays("streaming_state_conflict"), later, "edit"],
    ["an edit in a channel that moves", slackSays("external_channel_migrating"), later, "edit"],
    ["an edit in an archived channel", slackSays("is_inactive"), gone("chat-closed"), "edit"],
    ["an edit of another author's message", slackSays("cant_update_message"), lockedMessage, "edit"],
    [
      "a text that is too long for blocks",
      slackSays("msg_too_long"),
      { kind: "transient", code: "blocks-refused" },
    ],
    ["arguments that it does not know", slackSays("invalid_arguments"), rejected],
    ["the status 500", { status: 500 }, unclear],
    ["the status 503", { status: 503 }, later],
    ["the status 503 with a time", { status: 503, headers: { "retry-after": "20" } }, laterIn(20_000)],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
  ],
  discord: [
    ["a rate limit", discordSays(429, 0, { retry_after: 1.5, global: false }), wait(1500)],
    [
      "a rate limit of the whole bot",
      discordSays(429, 0, { retry_after: 1.5, global: true }),
      wait(1500, true),
    ],
    ["a rate limit of the server in between", { status: 429, body: "<html>1015</html>" }, wait(5000)],
    ["slow mode", discordSays(400, 20_016, { retry_after: 30 }), wait(30_000)],
    ["a refused token", discordSays(401, 0), refusedCredentials],
    ["missing access", discordSays(403, 50_001), gone("no-rights")],
    ["a person who takes no messages", discordSays(403, 50_007), gone("no-rights")],
    ["an unknown channel", discordSays(404, 10_003), gone("chat-missing")],
    ["an archived thread", discordSays(400, 50_083), gone("thread-closed", "thread")],
    ["an edit of a message that is gone", discordSays(404, 10_008), missing, "edit"],
    ["an edit of another author's message", discordSays(403, 50_005), lockedMessage, "edit"],
    ["missing permissions", discordSays(403, 50_013), gone("no-rights")],
    [
      "missing permissions for an edit",
      discordSays(403, 50_013),
      { kind: "rejected", code: "no-rights" },
      "edit",
    ],
    ["an unknown server", discordSays(404, 10_004), gone("chat-missing")],
    ["a locked thread", discordSays(400, 160_005), gone("thread-closed", "thread")],
    ["a full channel", discordSays(429, 20_028, { retry_after: 7 }), wait(7000)],
    ["a file that is too large", discordSays(413, 40_005), { kind: "rejected", code: "too-large" }],
    ["an empty message", discordSays(400, 50_006), rejected],
    ["the status 500", discordSays(500, 0), unclear],
    ["automatic moderation", discordSays(403, 200_000), rejected],
    ["an invalid body", discordSays(400, 50_035), rejected],
    ["an overload", discordSays(503, 130_000), later],
    ["the status 502", { status: 502, body: "<html>" }, unclear],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
  ],
  teams: [
    ["a rate limit", teamsSays(429, "Throttled", { "retry-after": "20" }), wait(20_000)],
    ["a rate limit without a time", teamsSays(429, "Throttled"), wait(5000)],
    ["a refused token", teamsSays(401, "BotNotRegistered"), refusedCredentials],
    ["a bot that was removed", teamsSays(403, "BotNotInConversationRoster"), gone("no-rights")],
    ["a conversation that is gone", teamsSays(404, "ConversationNotFound"), gone("chat-missing")],
    ["an edit of a message that is gone", teamsSays(404, "ActivityNotFoundInConversation"), missing, "edit"],
    [
      "a message that is too large",
      teamsSays(413, "MessageSizeTooBig"),
      { kind: "rejected", code: "too-large" },
    ],
    ["a call to repeat", teamsSays(412, "PreconditionFailed"), later],
    ["a person who has blocked the bot", teamsSays(403, "ConversationBlockedByUser"), gone("no-rights")],
    [
      "a person who has blocked the bot, in the words of the service behind it",
      { status: 403, body: { errorCode: 209, message: '{"subCode":"MessageWritesBlocked"}' } },
      gone("no-rights"),
    ],
    ["a tenant that has switched off the bot", teamsSays(403, "BotDisabledByAdmin"), gone("no-rights")],
    [
      "an edit without the right to it",
      teamsSays(403, "Forbidden"),
      { kind: "rejected", code: "no-rights" },
      "edit",
    ],
    ["a body that it cannot read", teamsSays(400, "BadSyntax"), rejected],
    ["the status 500", teamsSays(500, "ServiceError"), unclear],
    ["the status 504", teamsSays(504, "GatewayTimeout"), unclear],
    ["an error that speaks of permissions", teamsSays(502, "the permission service"), unclear],
    ["the status 503", teamsSays(503, "ServiceUnavailable"), later],
    [
      "the status 503 with a time",
      teamsSays(503, "ServiceUnavailable", { "retry-after": "20" }),
      laterIn(20_000),
    ],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
  ],
  whatsapp: [
    ["the throughput of the number, status 400", metaSays(400, 130_429), wait(5000)],
    ["the throughput of the number, status 429", metaSays(429, 130_429), wait(5000)],
    ["too many messages to a person", metaSays(400, 131_056), wait(6000)],
    ["too many calls of the account", metaSays(400, 80_007), wait(60_000)],
    ["too many calls of the app", metaSays(400, 4), wait(60_000)],
    ["an expired token", metaSays(401, 190), refusedCredentials],
    ["a permission that the app lacks", metaSays(403, 10), refusedCredentials],
    ["a permission, with the status 500", metaSays(500, 3), refusedCredentials],
    ["a number that does not exist", metaSays(404, 33), refusedCredentials],
    ["an account without payment", metaSays(400, 131_042), refusedCredentials],
    ["a window that is closed", metaSays(400, 131_047), gone("window-closed")],
    ["a number whose name is not approved", metaSays(400, 131_037), refusedCredentials],
    ["an account that is locked", metaSays(403, 131_031), refusedCredentials],
    ["a country that the account may not write to", metaSays(403, 130_497), gone("recipient-unreachable")],
    ["a kind of message that it does not know", metaSays(400, 131_051), rejected],
    ["an account in maintenance", metaSays(500, 131_057), later],
    ["a person without WhatsApp", metaSays(400, 131_026), gone("recipient-unreachable")],
    ["an invalid parameter", metaSays(400, 100), rejected],
    ["a service that is down", metaSays(500, 131_016), later],
    ["an unknown error", metaSays(500, 131_000), unclear],
    ["a server in between", { status: 502, body: "<html>" }, unclear],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
    [
      "an edit, which it does not have",
      {} as PlatformAnswer,
      { kind: "rejected", code: "not-supported" },
      "edit",
    ],
  ],
  gchat: [
    ["a rate limit", googleSays(429, "RESOURCE_EXHAUSTED", { "retry-after": "20" }), wait(20_000)],
    ["a rate limit without a time", googleSays(429, "RESOURCE_EXHAUSTED"), wait(5000)],
    [
      "a rate limit whose time is in the body",
      googleSays(429, "RESOURCE_EXHAUSTED", {}, { details: [{ "@type": RETRY_INFO, retryDelay: "3.5s" }] }),
      wait(3500),
    ],
    [
      "a rate limit with the status 403",
      googleSays(403, "PERMISSION_DENIED", {}, { errors: [{ reason: "userRateLimitExceeded" }] }),
      wait(5000),
    ],
    ["a refused token", googleSays(401, "UNAUTHENTICATED"), refusedCredentials],
    ["a key that was deleted", { status: 400, body: { error: "invalid_grant" } }, refusedCredentials],
    ["a bot that was removed", googleSays(403, "PERMISSION_DENIED"), gone("no-rights")],
    ["a space that is gone", googleSays(404, "NOT_FOUND"), gone("chat-missing")],
    ["an edit of a message that is gone", googleSays(404, "NOT_FOUND"), missing, "edit"],
    [
      "an edit without the right to it",
      googleSays(403, "PERMISSION_DENIED"),
      { kind: "rejected", code: "no-rights" },
      "edit",
    ],
    [
      "an id that a message has already",
      googleSays(409, "ALREADY_EXISTS"),
      { kind: "unknown", code: "made-before" },
    ],
    ["a deadline", googleSays(504, "DEADLINE_EXCEEDED"), unclear],
    ["a message that is too long", googleSays(400, "INVALID_ARGUMENT"), rejected],
    ["the status 500", googleSays(500, "INTERNAL"), unclear],
    ["the status 503", googleSays(503, "UNAVAILABLE"), later],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
  ],
  github: [
    [
      "a secondary rate limit with its time",
      gitHubSays(403, "You have exceeded a secondary rate limit.", { "retry-after": "20" }),
      wait(20_000),
    ],
    ["a rate limit that says nothing", gitHubSays(429, "Too many."), wait(60_000)],
    [
      "a secondary rate limit without a time",
      gitHubSays(403, "You have exceeded a secondary rate limit."),
      wait(60_000),
    ],
    [
      "a primary rate limit",
      gitHubSays(403, "API rate limit exceeded for user.", {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(NOW_SECONDS + 90),
      }),
      wait(90_000),
    ],
    [
      "a primary rate limit with the status 429",
      gitHubSays(429, "API rate limit exceeded", {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(NOW_SECONDS - 1),
      }),
      wait(60_000),
    ],
    [
      "a date to wait for",
      gitHubSays(429, "slow", { "retry-after": new Date((NOW_SECONDS + 30) * 1000).toUTCString() }),
      wait(30_000),
    ],
    ["a refused token", gitHubSays(401, "Bad credentials"), refusedCredentials],
    [
      "an issue that is locked",
      gitHubSays(403, "Unable to create comment because issue is locked.", {
        "x-ratelimit-remaining": "4990",
      }),
      gone("no-rights"),
    ],
    ["an issue that is gone", gitHubSays(410, "This issue was deleted"), gone("chat-missing")],
    ["an edit of a comment that is gone", gitHubSays(404, "Not Found"), missing, "edit"],
    ["a comment that is too long", gitHubSays(422, "Validation Failed"), rejected],
    [
      "a right that the app lacks",
      gitHubSays(403, "Resource not accessible by integration"),
      gone("no-rights"),
    ],
    ["a repository that it may not see", gitHubSays(404, "Not Found"), gone("chat-missing")],
    [
      "an edit of another author's comment",
      gitHubSays(403, "Must have admin rights to Repository."),
      { kind: "rejected", code: "no-rights" },
      "edit",
    ],
    ["the status 502", gitHubSays(502, "Server Error"), unclear],
    ["the status 500", gitHubSays(500, "Server Error"), unclear],
    ["the status 503", gitHubSays(503, "Unicorn"), later],
  ],
  linear: [
    ["a rate limit", linearSays(400, "ratelimited", { "retry-after": "20" }), wait(20_000)],
    ["a rate limit without a time", linearSays(400, "ratelimited"), wait(60_000)],
    [
      "a rate limit that is reset",
      linearSays(400, "ratelimited", {
        "x-ratelimit-requests-remaining": "0",
        "x-ratelimit-requests-reset": String(NOW_SECONDS * 1000 + 90_000),
        "x-ratelimit-complexity-remaining": "1000",
        "x-ratelimit-complexity-reset": String(NOW_SECONDS * 1000 + 900_000),
      }),
      wait(90_000),
    ],
    ["a refused token", linearSays(401, "authentication error"), refusedCredentials],
    ["a team that the bot may not see", linearSays(403, "forbidden"), gone("no-rights", "thread")],
    ["a lock that others hold", linearSays(400, "lock timeout"), later],
    ["a plan that is used up", linearSays(400, "usage limit exceeded"), rejected],
    ["an error inside of Linear", linearSays(500, "internal error"), unclear],
    ["the status 503", { status: 503 }, later],
    ["a connection that is cut", { status: undefined }, { kind: "unknown", code: "no-answer" }],
    ["an invalid input", linearSays(400, "invalid input"), rejected],
    ["a deleted issue", linearMisses("Issue"), gone("chat-missing")],
    ["a thread whose first comment is deleted", linearMisses("Comment"), gone("chat-missing", "thread")],
    ["an edit of a comment that is gone", linearMisses("Comment"), missing, "edit"],
    ["the status 500", { status: 500 }, unclear],
  ],
};
