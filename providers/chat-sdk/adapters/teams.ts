import type { Adapter, Attachment } from "chat";
import { z } from "zod";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { ErrorFacts } from "../errors/error-facts.ts";
import type { FailedCall } from "../errors/failed-call.ts";
import { adaptiveCardText } from "../markup/adaptive-card.ts";
import { plainMarkdown } from "../markup/markdown.ts";
import type { AdapterProfile } from "./adapter-profile.ts";
import { storedUrl } from "./file-source.ts";
import type { FileSource } from "./file-source.ts";
import { addresses } from "./teams-addresses.ts";
import { readUnreported } from "./teams-changes.ts";
import { DRIVES, handleAnswer, postFiles, readAnswer } from "./teams-consents.ts";
import { mentioningText } from "./teams-mentions.ts";
import { credentialsRefused, noRights, notFound, rateLimited, scopeOf, unavailable } from "./refusals.ts";

export const teams: AdapterProfile = {
  // Teams counts the bytes of UTF-16, of the whole request. 40 KB were the limit before it became 100.
  capabilities: { maxMessageLength: 16_000 },
  markup: plainMarkdown,
  cardMarkup: adaptiveCardText,
  // Teams shows six buttons of a card, and hides any others.
  buttonLimits: { maxRows: 1, maxPerRow: 6, maxTextLength: 16_000, maxLabelLength: Infinity },
  // A conversation takes 1800 calls an hour, and 60 in half a minute.
  editEveryMs: 2000,
  pacing: { direct: { burst: 5, everyMs: 2000 }, group: { burst: 5, everyMs: 2000 } },
  // Pictures are in the text of a message.
  maxFileBytes: { photo: 1_000_000 },
  postFiles,
  handleOwn: handleAnswer,
  // "Messages in bot conversations", which excludes animated GIFs. It also says 1024 × 1024 pixels, which nothing here
  // measures.
  photoTypes: ["image/png", "image/jpeg", "image/gif"],
  // Teams makes two messages of a text with a picture, and tells the id of neither.
  hasCaptions: false,
  addresses,
  readFailure,
  readUnreported: (body) => readUnreported(body) ?? readAnswer(body),
  findMistake,
  fileSource,
  mentioningText,
  // Where to reach people and channels. Only their own messages tell it.
  stateKind: (key) =>
    /^teams:(?:serviceUrl|tenantId|aadObjectId|channelContext):/.test(key) ? "kept" : undefined,
};

/** An adapter that starts, and refuses every webhook. */
const withoutCredentials = z.object({
  config: z.object({ webhookVerifier: z.undefined().optional() }),
  // Undefined while the app's id is not known.
  appInstance: z.object({ credentials: z.undefined().optional() }),
});

function findMistake(adapter: Adapter): string | undefined {
  return withoutCredentials.safeParse(adapter).success
    ? "Set TEAMS_APP_ID, TEAMS_APP_PASSWORD and TEAMS_APP_TENANT_ID, or give them to the adapter."
    : undefined;
}

/** The address of an uploaded file is signed. The adapter fetches pictures in the text with the bot's token. */
async function fileSource(attachment: Attachment): Promise<FileSource | undefined> {
  const url = storedUrl(attachment);
  if (url === undefined || attachment.fetchMetadata?.["auth"] === "bot") return undefined;
  return { url, ownHosts: DRIVES };
}

/** The message was certainly not sent, because the bot got no token for it. */
const TOKEN_REFUSED = new Set(["invalid_client", "invalid_grant", "unauthorized_client", "invalid_resource"]);
const TOKEN_NOT_ASKED = new Set(["endpoints_resolution_error", "network_error", "openid_config_error"]);

/**
 * Reads the status of the platform's answer, and the failures of the service that gives tokens. The adapter's class
 * alone may mislead: any error whose text has the word "permission" becomes a `PermissionError`.
 */
function readFailure(
  { body, errors, retryAfterMs, status }: ErrorFacts,
  call: FailedCall,
): CallFailure | undefined {
  for (const { errorCode } of errors) {
    if (typeof errorCode !== "string") continue;
    if (TOKEN_REFUSED.has(errorCode)) return credentialsRefused;
    if (TOKEN_NOT_ASKED.has(errorCode)) return { kind: "transient", code: "no-connection" };
  }
  switch (status) {
    case 403:
      return noRights(call);
    case 404:
      return notFound(call, isActivityMissing(body) ? scopeOf(call) : undefined);
    case 412:
      // Teams asks to repeat the call.
      return unavailable;
    case 429:
      return rateLimited(retryAfterMs);
    default:
      return undefined;
  }
}

/** Whether the message is missing with which a thread begins, and not the whole conversation. */
function isActivityMissing(body: unknown): boolean {
  return z.object({ error: z.object({ code: z.literal("ActivityNotFoundInConversation") }) }).safeParse(body)
    .success;
}
