import type { Adapter, Attachment, Message } from "chat";
import { z } from "zod";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import type { MentioningText } from "../events/text-to-bot.ts";
import { blockMarkdown } from "../markup/markdown.ts";
import { slackMrkdwn } from "../markup/slack-mrkdwn.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { storedUrl } from "./file-source.ts";
import type { FileSource } from "./file-source.ts";
import { showMarkdownInBlocks } from "./slack-blocks.ts";
import { postFiles, UNDECIDED } from "./slack-files.ts";
import { readPress, whisper } from "./slack-presses.ts";
import { followSessions } from "./slack-sessions.ts";
import { keepsSlackTokens, slackInstallations, slackStateKind } from "./slack-installations.ts";
import {
  badRequest,
  credentialsRefused,
  locked,
  notFound,
  rateLimited,
  scopeMissing,
  unavailable,
} from "./refusals.ts";
import { slackSearch } from "./search/slack.ts";

/** Slack takes 12,000 characters of Markdown. The rest is room for mentions, which the adapter writes in full. */
const MAX_LENGTH = 11_500;

export const slack: AdapterProfile = {
  capabilities: { maxMessageLength: MAX_LENGTH },
  markup: blockMarkdown,
  takesMarkdown: true,
  cardMarkup: slackMrkdwn,
  // A section of a card and the label of a button are not longer. A message has 50 blocks, and each row is one.
  buttonLimits: { maxRows: 40, maxPerRow: 25, maxTextLength: 3000, maxLabelLength: 75 },
  // `chat.update` may be called 50 times a minute.
  editEveryMs: 1200,
  readFailure,
  search: slackSearch,
  fileSource,
  mentioningText,
  postFiles,
  whisper,
  readPress,
  stateKind: slackStateKind,
  keepsSecrets: keepsSlackTokens,
  installations: slackInstallations,
  dropsEvents: (body) => limited.safeParse(body).success,
  prepare: (adapter) => {
    leaveRepeatsToDelivery(adapter);
    showMarkdownInBlocks(adapter);
    followSessions(adapter);
  },
};

/** More than 30,000 events in an hour ("app_rate_limited event"). */
const limited = z.object({ type: z.literal("app_rate_limited") });

/** The token, the app or its permissions are wrong. */
const MISCONFIGURED = new Set([
  "access_denied",
  "accesslimited",
  "account_inactive",
  "ekm_access_denied",
  "enterprise_is_restricted",
  "invalid_auth",
  "no_permission",
  "not_allowed_token_type",
  "not_authed",
  "team_access_not_granted",
  "token_expired",
  "token_revoked",
  "two_factor_setup_required",
]);

/** The bot cannot write to the channel. */
const CLOSED_CHANNEL = new Set([
  "channel_not_found",
  "is_archived",
  "is_inactive",
  "messages_tab_disabled",
  "not_in_channel",
  "restricted_action",
  "restricted_action_non_threadable_channel",
  "restricted_action_read_only_channel",
  "restricted_action_thread_only_channel",
  "team_not_found",
  "user_not_found",
]);

/** The app may not read the history. */
const NOT_READABLE = new Set(["missing_scope", "no_permission", "not_allowed_token_type"]);

const CLOSED_THREAD = new Set([
  "cannot_reply_to_message",
  "restricted_action_thread_locked",
  "thread_not_found",
]);

const LOCKED_MESSAGE = new Set([
  "cant_delete_message",
  "cant_update_message",
  "compliance_exports_prevent_deletion",
  "edit_window_closed",
]);

const TOO_MANY = new Set(["message_limit_exceeded", "rate_limited", "ratelimited"]);

/** Nothing was done, and a later call may succeed. */
const LATER = new Set([
  "external_channel_migrating",
  "org_login_required",
  "request_timeout",
  "service_unavailable",
  "streaming_state_conflict",
  "team_added_to_org",
]);

/** Rules of a workspace about files. */
const FILE_REFUSED = new Set([
  "file_type_not_allowed",
  "file_upload_size_restricted",
  "file_uploads_disabled",
  "file_uploads_except_images_disabled",
  "storage_limit_reached",
]);

/** Reads the code of a refusal, which Slack sends with the status 200. */
function readFailure(facts: ErrorFacts, call: FailedCall): CallFailure | undefined {
  const { body, errors, message, retryAfterMs } = facts;
  const code = errors[0]?.code;
  if (code === "slack_webapi_rate_limited_error") return rateLimited(retryAfterMs);
  // The status 429 without a waiting time.
  if (message.startsWith("Retry header did not contain a valid timeout")) return rateLimited(undefined);
  if (code !== "slack_webapi_platform_error" || !isRecord(body) || typeof body.error !== "string") {
    return undefined;
  }
  return refusal(body.error, call);
}

function refusal(error: string, call: FailedCall): CallFailure {
  if (FILE_REFUSED.has(error)) return { kind: "rejected", code: "file-refused", about: "file" };
  // A bot may write where it cannot read.
  if (call.method === "find" && (NOT_READABLE.has(error) || CLOSED_CHANNEL.has(error))) return badRequest;
  if (error === "missing_scope") return scopeMissing;
  if (MISCONFIGURED.has(error)) return credentialsRefused;
  if (TOO_MANY.has(error)) return rateLimited(undefined);
  if (CLOSED_CHANNEL.has(error)) return { kind: "gone", code: "chat-closed" };
  if (CLOSED_THREAD.has(error)) return { kind: "gone", code: "thread-closed", scope: "thread" };
  if (LOCKED_MESSAGE.has(error)) return locked;
  if (error === "message_not_found") return notFound(call, "thread");
  if (LATER.has(error)) return unavailable;
  if (UNDECIDED.has(error) || error === "update_failed") return { kind: "unknown", code: "server-error" };
  return badRequest;
}

/** Servers of Slack's files, which want the bot's token. */
const FILE_HOSTS = [
  "files.slack.com",
  "files.slack-gov.com",
  "slack-files.com",
  "slack-files-gov.com",
  "slack.com",
  "slack-gov.com",
];

/** The parts of the adapter that know tokens. */
const tokens = z.object({
  slackApiUrl: z.string().optional(),
  defaultBotTokenProvider: z.custom<() => string | Promise<string>>(isFunction).optional(),
});
const installed = z.object({ token: z.string() }).nullable();

/** A file has its address and, if the app is in several workspaces, the one whose token opens it. */
async function fileSource(attachment: Attachment, adapter: Adapter): Promise<FileSource | undefined> {
  const url = storedUrl(attachment);
  if (url === undefined) return undefined;
  const { defaultBotTokenProvider, slackApiUrl } = tokens.parse(adapter);
  const token = defaultBotTokenProvider
    ? await defaultBotTokenProvider.call(adapter)
    : await installedToken(attachment, adapter);
  return {
    url,
    ownHosts: FILE_HOSTS,
    refusesByPage: true,
    ...(token !== undefined && { token }),
    ...(slackApiUrl !== undefined && { apiUrl: slackApiUrl }),
  };
}

async function installedToken({ fetchMetadata }: Attachment, adapter: Adapter): Promise<string | undefined> {
  const isOfEnterprise = fetchMetadata?.["isEnterpriseInstall"] === "true";
  const id = fetchMetadata?.[isOfEnterprise ? "enterpriseId" : "teamId"];
  const find: unknown = Reflect.get(adapter, "resolveTokenForTeam");
  if (id === undefined || !isFunction(find)) return undefined;
  return installed.parse(await find.call(adapter, id, isOfEnterprise))?.token;
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/**
 * Switches off the repetitions of Slack's client. By itself it repeats a post after every lost answer, and waits for the
 * end of a rate limit, while the delivery has long posted again (I6, I8).
 */
function leaveRepeatsToDelivery(adapter: Adapter): void {
  const once = { retryConfig: { retries: 0 }, rejectRateLimitedCalls: true };
  const client: unknown = Reflect.get(adapter, "_client");
  if (typeof client === "object" && client !== null) Object.assign(client, once);
  // The clients of further workspaces are made with these options.
  const given: unknown = Reflect.get(adapter, "webClientOptions");
  Reflect.set(adapter, "webClientOptions", { ...(isRecord(given) && given), ...once });
}

const mentioning = z.object({ text: z.string() });

/**
 * Reads Slack's own text. The adapter writes the bot's display name in the place of its id, which may be any words.
 */
function mentioningText(
  { raw }: Pick<Message, "raw">,
  botUserId: string | undefined,
): MentioningText | undefined {
  const { data } = mentioning.safeParse(raw);
  if (data === undefined || botUserId === undefined) return undefined;
  const mention = `<@${botUserId}>`;
  const text = data.text
    .replace(/<([@#])([^>|]+)(?:\|([^>]*))?>/g, (_token: string, sign: string, id: string, label?: string) =>
      sign === "@" && id.toUpperCase() === botUserId.toUpperCase() ? mention : sign + (label || id),
    )
    .replace(/<((?:https?:|mailto:)[^>|]+)(?:\|[^>]*)?>/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  return { text, mentions: [mention] };
}
