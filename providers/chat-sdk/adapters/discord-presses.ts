import type { Adapter } from "chat";
import { z } from "zod";
import type { PressFacts, StoredPress, Whisper, WhisperOptions } from "./adapter-profile.ts";
import { cannotWhisper } from "./post-ephemeral.ts";
import { RefusedRequest } from "./refused-request.ts";

const application = z.object({ apiBaseUrl: z.string(), applicationId: z.string() });
const interaction = z.object({ token: z.string() });

/** `EPHEMERAL`: only the person who pressed sees the message. */
const FOR_ONE_PERSON = 64;

export function readPress({ raw }: StoredPress): PressFacts {
  const { data } = interaction.safeParse(raw);
  return data === undefined ? {} : { token: data.token };
}

/** Answers the interaction with another message, for which Discord gives 15 minutes. */
export async function whisper(
  { press: { token }, text }: Whisper,
  adapter: Adapter,
  { fetch, signal }: WhisperOptions,
): Promise<void> {
  if (token === undefined) throw cannotWhisper();
  const { apiBaseUrl, applicationId } = application.parse(adapter);
  const response = await fetch(`${apiBaseUrl}/webhooks/${applicationId}/${encodeURIComponent(token)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      content: text,
      flags: FOR_ONE_PERSON,
      allowed_mentions: { parse: [] },
    }),
    signal,
  });
  if (!response.ok) throw new RefusedRequest(response, await response.text());
}
