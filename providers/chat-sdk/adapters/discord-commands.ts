import type { Adapter, FileUpload } from "chat";
import { z } from "zod";
import type { Placeholder } from "../../../src/core/message/placeholder.ts";
import type { FillingPost, WhisperOptions } from "./adapter-profile.ts";
import { RefusedRequest } from "./refused-request.ts";

/** Discord takes answers to a command for 15 minutes. The rest is room for the call. */
const LIFETIME_MS = 14.5 * 60_000;

const interaction = z.object({ id: z.string(), token: z.string() });
const application = z.object({
  apiBaseUrl: z.string(),
  applicationId: z.string(),
  buildMessagePayload: z.custom<(message: FillingPost["message"]) => unknown>(
    (value) => typeof value === "function",
  ),
});
const built = z.object({ payload: z.record(z.string(), z.unknown()) });
const posted = z.object({ id: z.string() });

/** The adapter answers each command with "thinking…", which stays until an answer replaces it. */
export function placeholderOf(raw: unknown, now: number): Placeholder | undefined {
  const { data } = interaction.safeParse(raw);
  if (data === undefined) return undefined;
  return { messageId: data.id, token: data.token, shownAt: now, expiresAt: now + LIFETIME_MS };
}

/** Edits the first answer to the command. The same edit again changes nothing. */
export async function fillPlaceholder(
  { files, message, token }: FillingPost,
  adapter: Adapter,
  { fetch, signal }: WhisperOptions,
): Promise<string> {
  const { buildMessagePayload } = application.parse(adapter);
  const { payload } = built.parse(buildMessagePayload.call(adapter, message));
  const init = { method: "PATCH", signal, ...bodyOf(payload, files) };
  const response = await fetch(addressOf(token, adapter), init);
  if (!response.ok) throw new RefusedRequest(response, await response.text());
  return posted.parse(await response.json()).id;
}

/** Deletes the first answer to the command. */
export async function removePlaceholder(
  token: string,
  adapter: Adapter,
  { fetch, signal }: WhisperOptions,
): Promise<void> {
  const response = await fetch(addressOf(token, adapter), { method: "DELETE", signal });
  if (!response.ok) throw new RefusedRequest(response, await response.text());
}

function addressOf(token: string, adapter: Adapter): string {
  const { apiBaseUrl, applicationId } = application.parse(adapter);
  return `${apiBaseUrl}/webhooks/${applicationId}/${encodeURIComponent(token)}/messages/@original`;
}

function bodyOf(
  payload: Readonly<Record<string, unknown>>,
  files: readonly FileUpload[],
): Pick<RequestInit, "body" | "headers"> {
  if (files.length === 0)
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(payload) };
  const form = new FormData();
  form.append("payload_json", JSON.stringify(payload));
  for (const [index, { data, filename, mimeType }] of files.entries()) {
    const bytes = data instanceof Blob ? data : new Blob([new Uint8Array(data)], { type: mimeType ?? "" });
    form.append(`files[${index}]`, bytes, filename);
  }
  return { body: form };
}
