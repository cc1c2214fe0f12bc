import type { Adapter } from "chat";
import { z } from "zod";
import { isRecord } from "../../../src/core/json/is-record.ts";
import { isPrivateHost } from "../../../src/core/web/public-url.ts";

/*
 * An app of Google Chat is of one of two kinds from its beginning. Its requests are signed accordingly ("Verify requests
 * from Google Chat"):
 * - A Google Workspace add-on names the address of its webhook, and is signed by an account of its own project.
 * - Any other app names its project's number, or the address, and is signed by Google Chat.
 */

const ADD_ON_ACCOUNT = /^service-\d+@gcp-sa-gsuiteaddons\.iam\.gserviceaccount\.com$/;
const CONSOLE = `"Configuration" of the Google Chat API in the Google Cloud console`;

const settings = z.object({
  endpointUrl: z.string().optional(),
  googleChatProjectNumber: z.union([z.string(), z.number()]).optional(),
  workspaceAddOnServiceAccountEmail: z.string().optional(),
});

export function findMistake(adapter: Adapter): string | undefined {
  const { endpointUrl, workspaceAddOnServiceAccountEmail: email } = settings.parse(adapter);
  if (endpointUrl !== undefined && !isWebhook(endpointUrl))
    return `The adapter's \`endpointUrl\` is no address of a webhook. Set it as it stands in ${CONSOLE}, such as "https://bot.example.com/messengers/gchat/webhook".`;
  if (email === undefined || email === "") return undefined;
  if (!ADD_ON_ACCOUNT.test(email))
    return `The adapter's \`workspaceAddOnServiceAccountEmail\` is not the account of an add-on. Copy the service account's e-mail from ${CONSOLE}: it begins with "service-", and ends with "@gcp-sa-gsuiteaddons.iam.gserviceaccount.com".`;
  return endpointUrl === undefined
    ? `The adapter has \`workspaceAddOnServiceAccountEmail\`, and no \`endpointUrl\`. Set \`endpointUrl\` to the webhook's address as it stands in ${CONSOLE}.`
    : undefined;
}

/** A bot that runs on this machine has an address without TLS. Google sends nothing to it. */
function isWebhook(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.pathname === "/") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isPrivateHost(url.hostname));
}

export function explainRefusal(body: unknown, adapter: Adapter): string | undefined {
  if (!isRecord(body)) return undefined;
  const { endpointUrl, workspaceAddOnServiceAccountEmail: email } = settings.parse(adapter);
  if (isRecord(body.chat)) {
    const missing = [
      ...(endpointUrl ? [] : ["endpointUrl"]),
      ...(email ? [] : ["workspaceAddOnServiceAccountEmail"]),
    ].map((name) => `\`${name}\``);
    return missing.length > 0
      ? `The app is a Google Workspace add-on. Set the adapter's ${missing.join(" and ")}.`
      : `Check \`endpointUrl\` and \`workspaceAddOnServiceAccountEmail\`: both stand in ${CONSOLE}.`;
  }
  if (typeof body.type !== "string") return undefined;
  return `Check the adapter's \`googleChatProjectNumber\`, or \`endpointUrl\` if that is the app's authentication audience in ${CONSOLE}.`;
}
