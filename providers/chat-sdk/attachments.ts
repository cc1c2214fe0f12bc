import { abortError, untilAborted } from "../../src/core/until-aborted.ts";
import { z } from "zod";
import type { Adapter, Attachment } from "chat";
import { InvalidInputError, SwitchboardError, errorCode } from "../../src/core/errors.ts";
import type { FetchedFile } from "../../src/core/messenger.ts";
import type { AttachmentReference, MessengerAttachment } from "../../src/core/messenger-event.ts";
import { parsePublicUrl } from "../../src/core/public-url.ts";
import type { StoredAttachment } from "./stored-event.ts";

const kinds: Readonly<Record<StoredAttachment["type"], MessengerAttachment["kind"]>> = {
  image: "image",
  file: "document",
  video: "video",
  audio: "audio",
};

/** Turns an attachment of the SDK into a reference by which the adapter, or its address, can fetch it later. */
export function attachmentOf(stored: StoredAttachment): MessengerAttachment {
  return {
    kind: kinds[stored.type],
    reference: {
      type: stored.type,
      ...(stored.fetchMetadata ? { metadata: JSON.stringify(stored.fetchMetadata) } : {}),
      ...(stored.url ? { url: stored.url } : {}),
      ...(stored.mimeType ? { mediaType: stored.mimeType } : {}),
    },
    ...(stored.mimeType ? { mediaType: stored.mimeType } : {}),
    ...(stored.name ? { name: stored.name } : {}),
    ...(typeof stored.size === "number" ? { sizeBytes: stored.size } : {}),
  };
}

interface FetchOptions {
  /**
   * Initializes the adapter. Before that, many adapters do not know their platform's address or their own credentials.
   */
  readonly ready: () => Promise<unknown>;
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The only hosts from which files are fetched by address. Undefined: every public host. */
  readonly hosts?: readonly string[];
}

/**
 * Fetches the bytes of an attachment through the adapter, which has the credentials, or by its public address.
 *
 * @throws {InvalidInputError} when it is too large, or cannot or must not be fetched
 * @throws {SwitchboardError} when the download failed and may succeed later
 */
export async function fetchAttachment(
  reference: AttachmentReference,
  adapter: Adapter,
  options: FetchOptions,
): Promise<FetchedFile> {
  await untilFailed(options.ready, options.signal);
  const attachment = restore(reference, adapter);
  const mediaType = attachment.mimeType;
  if (attachment.fetchData !== undefined) {
    const bytes = await fetchByAdapter(attachment.fetchData, options);
    return { bytes, ...(mediaType === undefined ? {} : { mediaType }) };
  }
  if (attachment.url !== undefined) return fetchByUrl(attachment.url, mediaType, options);
  throw new InvalidInputError("attachment-reference", "The adapter cannot fetch this attachment again.");
}

function restore(reference: AttachmentReference, adapter: Adapter): Attachment {
  const { type, metadata, url, mediaType } = reference;
  const attachment: Attachment = {
    type: type === "image" || type === "video" || type === "audio" ? type : "file",
    ...(typeof url === "string" ? { url } : {}),
    ...(typeof mediaType === "string" ? { mimeType: mediaType } : {}),
    ...(typeof metadata === "string" ? { fetchMetadata: parseMetadata(metadata) } : {}),
  };
  try {
    return adapter.rehydrateAttachment?.(attachment) ?? attachment;
  } catch {
    // The adapter's own error may contain an address or a token.
    throw new InvalidInputError("attachment-reference", "The adapter cannot fetch this attachment again.");
  }
}

function parseMetadata(text: string): Record<string, string> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch {
    throw new InvalidInputError("attachment-reference", "The attachment's reference cannot be read.");
  }
}

async function fetchByAdapter(
  fetchData: NonNullable<Attachment["fetchData"]>,
  { maxBytes, signal }: FetchOptions,
): Promise<Uint8Array> {
  const data = await untilFailed(fetchData, signal);
  refuseOver(maxBytes, data.byteLength);
  return new Uint8Array(data);
}

/** Makes a call that takes no signal: it goes on after the signal aborts, and its outcome is dropped. */
async function untilFailed<Result>(run: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  try {
    if (signal.aborted) throw abortError();
    return await untilAborted(signal, run(), abortError);
  } catch {
    throw failed(signal);
  }
}

/** Replaces any error of an adapter or the network, because it may contain a token or a signed address (I10). */
function failed(signal: AbortSignal): SwitchboardError {
  return signal.aborted
    ? new SwitchboardError("attachment-timed-out", "Fetching an attachment took too long.")
    : new SwitchboardError("attachment-failed", "Fetching an attachment failed.");
}

function refuseOver(maxBytes: number, sizeBytes: number): void {
  if (!(sizeBytes > maxBytes)) return;
  throw new InvalidInputError(
    "attachment-too-large",
    `The attachment has more than ${maxBytes} bytes. Raise \`maxMediaBytes\` to allow more.`,
  );
}

const maxRedirects = 3;

async function fetchByUrl(
  address: string,
  mediaType: string | undefined,
  options: FetchOptions,
): Promise<FetchedFile> {
  try {
    const response = await follow(address, options);
    refuseOver(options.maxBytes, Number(response.headers.get("content-length") ?? 0));
    const bytes = await readUpTo(options.maxBytes, response, options.signal);
    const type = mediaType ?? response.headers.get("content-type")?.split(";")[0]?.trim();
    return { bytes, ...(type ? { mediaType: type } : {}) };
  } catch (error) {
    if (errorCode(error)?.startsWith("attachment-")) throw error;
    throw failed(options.signal);
  }
}

/** Follows redirects and checks each address: a public one may redirect to a private one. */
async function follow(address: string, { fetch, hosts, signal }: FetchOptions): Promise<Response> {
  let url = parsePublicUrl(address, hosts);
  for (let step = 0; step <= maxRedirects; step += 1) {
    const request = fetch(url.href, { signal, redirect: "manual" });
    const response = await untilFailed(() => request, signal);
    if (response.ok) return response;
    void response.body?.cancel().catch(() => undefined);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) {
      throw new SwitchboardError("attachment-refused", `An attachment's server answered ${response.status}.`);
    }
    url = parsePublicUrl(URL.parse(location, url.href)?.href ?? "", hosts);
  }
  throw new SwitchboardError("attachment-refused", "An attachment's address redirects too often.");
}

/** Reads the body and counts its bytes. The header may be wrong, and compressed content grows. */
async function readUpTo(maxBytes: number, response: Response, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    for (;;) {
      const { done, value } = await untilFailed(() => reader.read(), signal);
      if (done) break;
      sizeBytes += value.byteLength;
      refuseOver(maxBytes, sizeBytes);
      chunks.push(value);
    }
  } finally {
    // The rest of the body is not needed.
    reader.cancel().catch(() => undefined);
  }
  const bytes = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
