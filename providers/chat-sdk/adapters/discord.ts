import type { Adapter, Attachment } from "chat";
import { z } from "zod";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import { discordMarkdown } from "../markup/discord-markdown.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { removeOldButtons } from "./discord-cards.ts";
import { fillPlaceholder, placeholderOf, removePlaceholder } from "./discord-commands.ts";
import { readPress, whisper } from "./discord-presses.ts";
import { storedUrl } from "./file-source.ts";
import type { FileSource } from "./file-source.ts";
import {
  badRequest,
  credentialsRefused,
  locked,
  noRights,
  notFound,
  rateLimited,
  scopeOf,
  unavailable,
} from "./refusals.ts";
import { parseJson } from "../../../src/core/json/parse-json.ts";
import { discordSearch } from "./search/discord.ts";

export const discord: AdapterProfile = {
  // Discord counts code points, but the adapter cuts off a text after 2000 UTF-16 units.
  capabilities: { maxMessageLength: 2000 },
  markup: discordMarkdown,
  buttonLimits: { maxRows: 5, maxPerRow: 5, maxTextLength: 2000, maxLabelLength: 80 },
  readFailure,
  search: discordSearch,
  fileSource,
  otherMentions,
  readPress,
  whisper,
  prepare: removeOldButtons,
  placeholderOf,
  fillPlaceholder,
  removePlaceholder,
};

const roles = z.object({ mentionRoleIds: z.array(z.string()).nullish() });

/** A mention of one of these roles counts as one of the bot. */
function otherMentions(adapter: Adapter): string[] {
  return (roles.parse(adapter).mentionRoleIds ?? []).map((id) => `<@&${id}>`);
}

/** The address of a file is signed. */
async function fileSource(attachment: Attachment): Promise<FileSource | undefined> {
  const url = storedUrl(attachment);
  return url === undefined ? undefined : { url, ownHosts: ["cdn.discordapp.com", "media.discordapp.net"] };
}

/** Codes of Discord's JSON errors. */
const UNKNOWN_MESSAGE = 10_008;
const ANOTHER_AUTHOR = 50_005;
/** Archived, locked. */
const CLOSED_THREAD = new Set([50_083, 160_005]);
/** Unknown channel, unknown server, no text channel. */
const NO_CHANNEL = new Set([10_003, 10_004, 50_008]);
/** Unknown webhook, unknown interaction, invalid token of a webhook. */
const EXPIRED_PRESS = new Set([10_015, 10_062, 50_027]);
/** Refused by a filter: explicit content, automatic moderation, harmful links. */
const REFUSED_CONTENT = new Set([20_009, 200_000, 240_000]);
/** Slow mode, and the limits of announcements, channels, servers, old messages and services. */
const TOO_MANY = new Set([20_016, 20_022, 20_028, 20_029, 30_046, 40_062]);
const OVERLOADED = 130_000;

/**
 * Reads the status and Discord's own code.
 *
 * The adapter wraps every HTTP error in a `NetworkError`. The answer is the message of its cause, or, for posts with
 * files, part of its own message.
 */
function readFailure(
  { body, errors, message, retryAfterMs, status }: ErrorFacts,
  call: FailedCall,
): CallFailure | undefined {
  const [, statusInMessage, answerInMessage] = /: ([1-5]\d\d) ([\s\S]*)$/.exec(message) ?? [];
  const known = status ?? (statusInMessage === undefined ? undefined : Number(statusInMessage));
  const cause = errors.find(({ name }) => name === "DiscordApiError");
  if (known === undefined) return undefined;
  const { waitMs = retryAfterMs, ...answer } = parse(cause?.message ?? answerInMessage, body);
  return refusal(known, { ...answer, waitMs }, call);
}

function refusal(
  status: number,
  { code, isGlobal, waitMs }: Answer,
  call: FailedCall,
): CallFailure | undefined {
  if (status === 429 || (code !== undefined && TOO_MANY.has(code))) return rateLimited(waitMs, isGlobal);
  if (code !== undefined && EXPIRED_PRESS.has(code)) return { kind: "missing", code: "press-expired" };
  if (status === 401) return credentialsRefused;
  if (code !== undefined) {
    if (REFUSED_CONTENT.has(code)) return badRequest;
    if (code === OVERLOADED) return unavailable;
    if (code === UNKNOWN_MESSAGE && call.method === "post")
      return { kind: "missing", code: "message-missing" };
    if (code === UNKNOWN_MESSAGE) return notFound(call);
    if (code === ANOTHER_AUTHOR) return locked;
    if (CLOSED_THREAD.has(code)) return { kind: "gone", code: "thread-closed", scope: "thread" };
    if (NO_CHANNEL.has(code)) return { kind: "gone", code: "chat-missing", scope: scopeOf(call) };
  }
  if (status === 403) return noRights(call);
  // A thread is a channel of its own.
  if (status === 404) return notFound(call, scopeOf(call));
  return undefined;
}

interface Answer {
  readonly code: number | undefined;
  readonly waitMs: number | undefined;
  /** Whether the limit is that of the bot in all of its channels. */
  readonly isGlobal: boolean;
}

function parse(text: unknown, json: unknown): Answer {
  const body = typeof text === "string" ? parseJson(text) : json;
  const { code, global: isGlobal, retry_after: seconds } = isRecord(body) ? body : {};
  return {
    code: typeof code === "number" ? code : undefined,
    isGlobal: isGlobal === true,
    waitMs: typeof seconds === "number" && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined,
  };
}
