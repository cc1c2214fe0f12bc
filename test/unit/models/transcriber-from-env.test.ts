import { describe, expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import type { FetchableAttachment } from "../../../src/core/chat/messenger-context.ts";
import { transcriberFromEnv } from "../../../src/models/transcriber-from-env.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const SECRET = "sk-SECRET";
const voice = (mediaType: string | undefined): FetchableAttachment => ({
  kind: "voice",
  reference: {},
  ...(mediaType !== undefined && { mediaType }),
  fetch: () => Promise.resolve({ bytes: new Uint8Array([1, 2, 3]) }),
  fetchMetadata: () => Promise.resolve({ kind: "voice" }),
});

/** Transcribes one voice message with a server that answers `respond`. */
async function transcribe(
  env: Record<string, string>,
  respond: () => Response | Promise<Response>,
  mediaType: string | undefined = "audio/ogg",
) {
  const requests: { url: string; authorization: string | null; form: FormData }[] = [];
  const transcriber = transcriberFromEnv(env, {
    clock: createVirtualClock(),
    fetch: async (input, init) => {
      const request = new Request(input, { method: "POST", headers: init?.headers ?? {} });
      requests.push({
        url: request.url,
        authorization: request.headers.get("authorization"),
        form: init?.body as FormData,
      });
      return respond();
    },
  });
  const outcome = await transcriber?.(voice(mediaType)).catch((error: unknown) => error);
  return { outcome, requests };
}

const env = { TRANSCRIPTION_BASE_URL: "https://speech.test/v1/", TRANSCRIPTION_API_KEY: SECRET };

describe("transcriberFromEnv", () => {
  it("is none without an address", () => {
    expect(transcriberFromEnv({})).toBeUndefined();
    expect(transcriberFromEnv({ TRANSCRIPTION_BASE_URL: " " })).toBeUndefined();
  });

  it("sends the bytes with a name that servers know, and returns the text", async () => {
    const { outcome, requests } = await transcribe(env, () => Response.json({ text: "hello" }));
    expect(outcome).toBe("hello");
    const [request] = requests;
    expect(request?.url).toBe("https://speech.test/v1/audio/transcriptions");
    expect(request?.authorization).toBe(`Bearer ${SECRET}`);
    expect(request?.form.get("model")).toBe("whisper-1");
    const file = request?.form.get("file");
    expect(file instanceof File && [file.name, file.type, file.size]).toEqual(["audio.ogg", "audio/ogg", 3]);
  });

  it.each([
    ["audio/mpeg", "audio.mp3"],
    ["audio/x-m4a", "audio.m4a"],
    ["audio/WAV; rate=16000", "audio.wav"],
    [undefined, "audio.ogg"],
  ])("names a file of the type %s %s", async (mediaType, name) => {
    const { requests } = await transcribe(env, () => Response.json({ text: "" }), mediaType);
    const file = requests[0]?.form.get("file");
    expect(file instanceof File && file.name).toBe(name);
  });

  it("asks without a key, and for the model that is named", async () => {
    const other = {
      TRANSCRIPTION_BASE_URL: "http://127.0.0.1:9000/v1",
      TRANSCRIPTION_MODEL: "whisper-large",
    };
    const { requests } = await transcribe(other, () => Response.json({ text: "" }));
    expect(requests[0]?.authorization).toBeNull();
    expect(requests[0]?.form.get("model")).toBe("whisper-large");
  });

  it.each([
    ["transcription-refused", () => new Response(SECRET, { status: 401 })],
    ["transcription-unreadable", () => Response.json({ words: [] })],
    ["transcription-unreadable", () => new Response("<html>")],
    ["transcription-unreachable", () => Promise.reject(new TypeError(`no way to ${SECRET}`))],
  ])("says %s, and nothing of keys and answers", async (code, respond) => {
    const { outcome } = await transcribe(env, respond);
    expect(errorCode(outcome)).toBe(code);
    expect(String(outcome)).not.toContain(SECRET);
  });

  it("names the variable whose address is none", () => {
    const wrong = () => transcriberFromEnv({ TRANSCRIPTION_BASE_URL: `https://${SECRET}@h.test/v1` });
    expect(wrong).toThrow(/^TRANSCRIPTION_BASE_URL (?!.*SECRET)/);
  });
});
