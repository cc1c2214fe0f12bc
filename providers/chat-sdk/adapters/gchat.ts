import type { Adapter, Attachment } from "chat";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import { z } from "zod";
import type { AdapterProfile, PressFacts, StoredPress } from "./adapter-profile.ts";
import { googleChatCard, googleChatText } from "../markup/google-chat.ts";
import type { FileSource } from "./file-source.ts";
import { credentialsRefused, rateLimited } from "./refusals.ts";
import { replaceMethod } from "./search/post-key.ts";
import { gchatSearch } from "./search/gchat.ts";
import { isDirect, mentioningText, prepareEvents, readUnreported } from "./gchat-events.ts";
import { buttonLimitsOf } from "./gchat-cards.ts";
import { explainRefusal, findMistake } from "./gchat-kinds.ts";

export const gchat: AdapterProfile = {
  // A message has at most 32,000 bytes, with all its fields.
  capabilities: { maxMessageLength: 30_000 },
  lengthUnit: "utf8-bytes",
  markup: googleChatText,
  cardMarkup: googleChatCard,
  buttonLimitsOf,
  // The adapter drops files and reports the message as sent.
  sendsFiles: false,
  // A space takes 60 writes a minute: posts, edits and removals.
  pacing: { direct: { burst: 5, everyMs: 1100 }, group: { burst: 5, everyMs: 1100 } },
  readFailure,
  fileSource,
  readUnreported,
  numbersCommands: true,
  findMistake,
  explainRefusal,
  mentioningText,
  prepare: (adapter) => {
    callByFetch(adapter);
    prepareEvents(adapter);
    writeInChatSyntax(adapter);
  },
  readPress,
  search: gchatSearch,
};

const pressed = z.object({
  chat: z.object({
    buttonClickedPayload: z.object({
      space: z.object({ name: z.string(), type: z.string().nullish(), spaceType: z.string().nullish() }),
    }),
  }),
});

/** The adapter takes a press in a private chat for one in a thread of a space. */
function readPress({ raw }: Pick<StoredPress, "raw">): PressFacts {
  const { data } = pressed.safeParse(raw);
  if (data === undefined) return {};
  const { space } = data.chat.buttonClickedPayload;
  return isDirect(space) ? { threadId: `gchat:${space.name}:dm` } : {};
}

/** Answers of the service that gives tokens. The message was certainly not sent. */
const TOKEN_REFUSED = new Set(["invalid_client", "invalid_grant", "unauthorized_client"]);

/** Reasons of a 403 that is a rate limit. */
const TOO_MANY = new Set(["rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"]);

function readFailure({ body, retryAfterMs, status }: ErrorFacts): CallFailure | undefined {
  const error = isRecord(body) ? body.error : undefined;
  if (typeof error === "string" && TOKEN_REFUSED.has(error)) return credentialsRefused;
  // A message with this id exists: an earlier post has made it, although its answer was lost.
  if (status === 409) return { kind: "unknown", code: "made-before" };
  if (status === 429 || (status === 403 && reasonsOf(error).some((reason) => TOO_MANY.has(reason)))) {
    return rateLimited(retryAfterMs ?? waitIn(error));
  }
  return undefined;
}

function reasonsOf(error: unknown): string[] {
  return detailsOf(error).flatMap(({ reason }) => (typeof reason === "string" ? reason : []));
}

/** Reads `google.rpc.RetryInfo`, such as "3.5s". In milliseconds. */
function waitIn(error: unknown): number | undefined {
  const [wait] = detailsOf(error)
    .flatMap(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay)) ?? [])
    .slice(1);
  return wait === undefined ? undefined : Math.ceil(Number(wait) * 1000);
}

function detailsOf(error: unknown): Readonly<Record<string, unknown>>[] {
  const { details, errors } = isRecord(error) ? error : {};
  return [details, errors]
    .flatMap((list: unknown): unknown[] => (Array.isArray(list) ? list : []))
    .filter(isRecord);
}

/**
 * Has Google's client call by `fetch`, and never repeat a call: that is the delivery's part.
 *
 * By itself it takes a library over `node:http`, which gets no headers in workerd. Answers are then not read as JSON: posts
 * have no id, and the keys that verify a webhook are not found.
 */
function callByFetch(adapter: Adapter): void {
  const apis = ["chatApi", "impersonatedChatApi"].map((name) => inside(adapter, name, "context", "_options"));
  for (const options of apis) if (isRecord(options)) options.retry = false;
  for (const client of [inside(adapter, "oauth2Client"), ...apis.map((options) => inside(options, "auth"))]) {
    const defaults = inside(client, "transporter", "defaults");
    if (isRecord(defaults)) {
      defaults.fetchImplementation = (...call: Parameters<typeof fetch>) => fetch(...call);
    }
  }
}

/** Has texts read in the syntax of Google Chat: a new app is set to Markdown ("Format messages"). */
function writeInChatSyntax(adapter: Adapter): void {
  const messages = inside(adapter, "chatApi", "spaces", "messages");
  for (const name of ["create", "update"]) {
    replaceMethod(messages, name, (call) => (request: unknown, ...more: unknown[]) => {
      const body = inside(request, "requestBody");
      const isText = isRecord(request) && isRecord(body) && typeof body.text === "string";
      const marked = isText && {
        ...request,
        requestBody: { ...body, markupSyntax: "MARKUP_SYNTAX_CHAT" },
      };
      return call(marked || request, ...more);
    });
  }
}

const tokens = z.union([z.string(), z.object({ token: z.string() }).transform(({ token }) => token)]);

/** The client reads whole files of up to 200 MB. Undefined if it has a key instead of a token. */
async function fileSource({ fetchMetadata }: Attachment, adapter: Adapter): Promise<FileSource | undefined> {
  const name = fetchMetadata?.["resourceName"];
  const { auth, rootUrl } = clientOptions.parse(inside(adapter, "chatApi", "context", "_options"));
  if (name === undefined || auth === undefined) return undefined;
  const url = new URL(`v1/media/${encodeURI(name)}?alt=media`, rootUrl);
  return { url: url.href, token: tokens.parse(await auth.getAccessToken()), apiUrl: rootUrl };
}

const clientOptions = z.object({
  auth: z
    .custom<{ getAccessToken(): Promise<unknown> }>(
      (auth) => typeof inside(auth, "getAccessToken") === "function",
    )
    .optional()
    .catch(undefined),
  rootUrl: z.string().default("https://chat.googleapis.com/"),
});

function inside(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (within, name) => (typeof within === "object" && within !== null ? Reflect.get(within, name) : undefined),
    value,
  );
}
