import type { Adapter, Attachment } from "chat";
import { z } from "zod";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import { type ChatSdkTemplate, HEARD } from "../template.ts";
import { whatsAppText } from "../markup/whatsapp-text.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import type { FileSource, GetJson } from "./file-source.ts";
import { badRequest, credentialsRefused, rateLimited, unavailable } from "./refusals.ts";
import { whatsappSearch } from "./search/whatsapp.ts";
import { goneCodeOf, readUndelivered } from "./whatsapp-statuses.ts";

export const whatsapp: AdapterProfile = {
  capabilities: {
    canEditMessages: false,
    maxMessageLength: 4096,
  },
  canRemoveMessages: false,
  // 5 MiB.
  maxFileBytes: { photo: 5_242_880 },
  maxCaptionLength: 1024,
  markup: whatsAppText,
  // A title is cut off after 20 characters, and the text of a message with buttons after 1024.
  buttonLimits: { maxRows: 1, maxPerRow: 3, maxTextLength: 1024, maxLabelLength: 20 },
  hasLinkButtons: false,
  // Until a message arrives, and at most 25 seconds.
  typing: () => ({ lastsMs: 25_000 }),
  startTyping,
  readFailure,
  fileSource,
  readUndelivered,
  isElsewhere,
  search: whatsappSearch,
  stateKind: (key) => (key.startsWith(HEARD) ? "kept" : undefined),
  window: { lastsMs: 24 * 60 * 60_000, sendTemplate },
};

const ofGroup = z.object({ group_id: z.string() });
const event = z.union([ofGroup, z.object({ message: ofGroup })]);

/** The adapter takes a message of a group for one of its author's private chat. */
function isElsewhere(raw: unknown): boolean {
  return event.safeParse(raw).success;
}

type SendTemplate = (threadId: string, template: ChatSdkTemplate) => Promise<{ readonly id: string }>;
const sender = z.object({ sendTemplate: z.custom<SendTemplate>((value) => typeof value === "function") });

async function sendTemplate(adapter: Adapter, threadId: string, template: ChatSdkTemplate): Promise<string> {
  return (await sender.parse(adapter).sendTemplate.call(adapter, threadId, template)).id;
}

type GraphRequest = (path: string, body: object) => Promise<unknown>;
const graph = z.object({
  phoneNumberId: z.string(),
  graphApiRequest: z.custom<GraphRequest>((value) => typeof value === "function"),
});

/**
 * Shows the sign below a message of the person, which marks it as read. The adapter looks for that message in a history
 * that it keeps itself, and which is not there in the object that answers.
 */
async function startTyping(adapter: Adapter, messageId: string | undefined): Promise<void> {
  if (messageId === undefined) return;
  const { graphApiRequest, phoneNumberId } = graph.parse(adapter);
  await graphApiRequest.call(adapter, `/${phoneNumberId}/messages`, {
    messaging_product: "whatsapp",
    status: "read",
    message_id: messageId,
    typing_indicator: { type: "text" },
  });
}

const tokens = z.object({ accessToken: z.string(), graphApiUrl: z.string() });
const media = z.object({ url: z.string() });
const FILE_HOSTS = ["*.fbcdn.net", "*.fbsbx.com"];

/** A file has an id, for which Meta gives an address that is good for five minutes. */
async function fileSource(
  { fetchMetadata }: Attachment,
  adapter: Adapter,
  getJson: GetJson,
): Promise<FileSource | undefined> {
  const id = fetchMetadata?.["mediaId"];
  if (id === undefined) return undefined;
  const { accessToken: token, graphApiUrl: apiUrl } = tokens.parse(adapter);
  const { url } = media.parse(await getJson(`${apiUrl}/${encodeURIComponent(id)}`, token));
  return { url, token, ownHosts: FILE_HOSTS, apiUrl };
}

/** Waiting times by Meta's code, in milliseconds. Meta tells none. */
const WAITS_MS: Readonly<Record<number, number>> = {
  // Messages a second of the number.
  130_429: 5000,
  // Messages to the same person. One every six seconds is allowed.
  131_056: 6000,
  // Calls of the app, or of the account, in an hour.
  4: 60_000,
  17: 60_000,
  32: 60_000,
  613: 60_000,
  80_007: 60_000,
  // Too many people have reported the number.
  131_048: 60_000,
};

/** The token, its permissions, the number or the account. */
const MISCONFIGURED = new Set([0, 3, 10, 33, 190, 368, 131_005, 131_031, 131_037, 131_042, 131_045, 133_010]);

const LATER = new Set([2, 131_016, 131_057, 133_004]);

const FILE_REFUSED = new Set([131_052, 131_053]);

/** Reads `error.code`. Meta asks to read it instead of the status, which does not tell these apart. */
function readFailure({ errors, message, name, status }: ErrorFacts): CallFailure | undefined {
  if (/does not support (?:editing|deleting)/.test(message))
    return { kind: "rejected", code: "not-supported" };
  const code = errors[0]?.errorCode;
  if (name !== "WhatsAppApiError" || typeof code !== "number") return undefined;
  if (WAITS_MS[code] !== undefined || status === 429) return rateLimited(WAITS_MS[code]);
  if (MISCONFIGURED.has(code) || (code >= 200 && code < 300)) return credentialsRefused;
  const goneCode = goneCodeOf(code);
  if (goneCode !== undefined) return { kind: "gone", code: goneCode };
  if (LATER.has(code)) return unavailable;
  if (FILE_REFUSED.has(code)) return { kind: "rejected", code: "bad-request", about: "file" };
  // A path of the account that does not exist is no chat that does not exist.
  if (status === 403 || status === 404) return credentialsRefused;
  return status !== undefined && status < 500 && status !== 401 ? badRequest : undefined;
}
