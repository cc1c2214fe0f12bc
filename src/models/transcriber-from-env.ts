import { withTimeLimit } from "../core/time/with-time-limit.ts";
import { z } from "zod";
import { systemDeps, type Deps } from "../core/base/deps.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import type { FetchableAttachment } from "../core/chat/messenger-context.ts";
import { parseBaseUrl, setting } from "./env-setting.ts";

/** The names that `transcriberFromEnv` reads. An empty value counts as none. */
export interface TranscriptionEnvironment {
  /** Base URL of an OpenAI-compatible server with `/audio/transcriptions`, up to `/v1`. */
  readonly TRANSCRIPTION_BASE_URL?: string;
  /** May be left out if the server needs none. */
  readonly TRANSCRIPTION_API_KEY?: string;
  /** The model's id, as its server names it. @default "whisper-1" */
  readonly TRANSCRIPTION_MODEL?: string;
}

/** Returns the words that are spoken in an audio file. */
export type Transcriber = (audio: FetchableAttachment) => Promise<string>;

const DEFAULT_MODEL = "whisper-1";
const TIMEOUT_MS = 25_000;
const answerSchema = z.object({ text: z.string() });

/**
 * Returns a transcriber of voice messages that uses the server in the environment. `undefined` without
 * `TRANSCRIPTION_BASE_URL`.
 *
 * @throws {ConfigurationError} `model-base-url-invalid`
 * @example
 * override transcribe(audio: FetchableAttachment) {
 *   return transcriberFromEnv(this.env)?.(audio);
 * }
 */
export function transcriberFromEnv(
  env: TranscriptionEnvironment,
  deps: Pick<Deps, "fetch" | "clock"> = systemDeps,
): Transcriber | undefined {
  const baseUrl = setting(env.TRANSCRIPTION_BASE_URL);
  if (baseUrl === undefined) return undefined;
  const url = parseBaseUrl("TRANSCRIPTION_BASE_URL", baseUrl, "https://api.openai.com/v1");
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/audio/transcriptions`;
  const apiKey = setting(env.TRANSCRIPTION_API_KEY);
  const model = setting(env.TRANSCRIPTION_MODEL) ?? DEFAULT_MODEL;
  return async (audio) => {
    const { bytes, mediaType } = await audio.fetch();
    const type = audio.mediaType ?? mediaType ?? "audio/ogg";
    const body = new FormData();
    body.set("model", model);
    body.set("response_format", "json");
    body.set("file", new Blob([bytes], { type }), fileName(type));
    const response = await withTimeLimit(deps.clock, TIMEOUT_MS, (signal) =>
      ask(deps.fetch, url, apiKey, body, signal),
    );
    const answer = answerSchema.safeParse(response);
    if (answer.success) return answer.data.text;
    throw new SwitchboardError(
      "transcription-unreadable",
      "The transcription server's answer has no text. TRANSCRIPTION_BASE_URL may be the address of another kind of server.",
    );
  };
}

async function ask(
  fetch: typeof globalThis.fetch,
  url: URL,
  apiKey: string | undefined,
  body: FormData,
  signal: AbortSignal,
): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url.href, {
      method: "POST",
      body,
      // The key is never sent to the target of a redirect.
      redirect: "manual",
      signal,
      ...(apiKey !== undefined && { headers: { authorization: `Bearer ${apiKey}` } }),
    });
  } catch {
    throw new SwitchboardError("transcription-unreachable", "The transcription server did not answer.");
  }
  if (response.ok) return response.json().catch(() => undefined);
  await response.body?.cancel();
  throw new SwitchboardError(
    "transcription-refused",
    `The transcription server answered ${response.status}. Check TRANSCRIPTION_API_KEY and TRANSCRIPTION_MODEL.`,
  );
}

/** Servers tell formats apart by the file name's extension, and know only these. */
const ENDINGS: Readonly<Record<string, string>> = {
  "audio/aac": "m4a",
  "audio/flac": "flac",
  "audio/m4a": "m4a",
  "audio/mp3": "mp3",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/webm": "webm",
  "audio/x-flac": "flac",
  "audio/x-m4a": "m4a",
  "audio/x-wav": "wav",
};

function fileName(mediaType: string): string {
  return `audio.${ENDINGS[mediaType.split(";")[0]?.trim().toLowerCase() ?? ""] ?? "ogg"}`;
}
