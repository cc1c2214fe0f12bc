import { readUpTo, refuseOver, untilFailed } from "../../src/core/chat/download.ts";
import { z } from "zod";
import type { Adapter, Attachment, StateAdapter } from "chat";
import { InvalidInputError, SwitchboardError } from "../../src/core/base/errors.ts";
import type { FetchedFile } from "../../src/core/chat/messenger.ts";
import type { AttachmentReference, MessengerAttachment } from "../../src/core/chat/messenger-event.ts";
import { isHost, parsePublicUrl } from "../../src/core/web/public-url.ts";
import type { FileSource } from "./adapters/file-source.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { withState } from "./state/state-of-call.ts";
import type { StoredAttachment } from "./events/stored-event.ts";

const FAILED = "attachment-failed";
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
  readonly ready: () => Promise<{ readonly state: StateAdapter }>;
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The only hosts from which files are fetched by address. Undefined: every public host. */
  readonly hosts?: readonly string[];
}

/**
 * Fetches the bytes of an attachment with the adapter's credentials, through the adapter, or by its public address.
 *
 * @throws {InvalidInputError} when it is too large, or cannot or must not be fetched
 * @throws {SwitchboardError} when the download failed and may succeed later
 */
export async function fetchAttachment(
  reference: AttachmentReference,
  adapter: Adapter,
  options: FetchOptions,
): Promise<FetchedFile> {
  const { state } = await untilFailed(options.ready, options.signal, FAILED);
  return withState(state, () => fetchStored(storedAttachment(reference), adapter, options));
}

async function fetchStored(
  stored: Attachment,
  adapter: Adapter,
  options: FetchOptions,
): Promise<FetchedFile> {
  const source = await untilFailed(
    async () =>
      profileOf(adapter.name).fileSource?.(stored, adapter, (...asked) => getJson(...asked, options)),
    options.signal,
    FAILED,
  );
  if (source !== undefined) return fetchByUrl(source, stored.mimeType, options);
  const attachment = restore(stored, adapter);
  const mediaType = attachment.mimeType;
  if (attachment.fetchData !== undefined) {
    const bytes = await fetchByAdapter(attachment.fetchData, options);
    return { bytes, ...(mediaType === undefined ? {} : { mediaType }) };
  }
  if (attachment.url !== undefined) return fetchByUrl({ url: attachment.url }, mediaType, options);
  throw new InvalidInputError("attachment-reference", "The adapter cannot fetch this attachment again.");
}

function storedAttachment(reference: AttachmentReference): Attachment {
  const { type, metadata, url, mediaType } = reference;
  return {
    type: type === "image" || type === "video" || type === "audio" ? type : "file",
    ...(typeof url === "string" ? { url } : {}),
    ...(typeof mediaType === "string" ? { mimeType: mediaType } : {}),
    ...(typeof metadata === "string" ? { fetchMetadata: parseMetadata(metadata) } : {}),
  };
}

function restore(attachment: Attachment, adapter: Adapter): Attachment {
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
  const data = await untilFailed(fetchData, signal, FAILED);
  refuseOver(maxBytes, data.byteLength);
  return new Uint8Array(data);
}

const maxRedirects = 3;

async function fetchByUrl(
  source: FileSource,
  mediaType: string | undefined,
  options: FetchOptions,
): Promise<FetchedFile> {
  const response = await follow(source, options);
  const type = response.headers.get("content-type")?.split(";")[0]?.trim();
  if (source.refusesByPage && type === "text/html" && mediaType !== "text/html") {
    void response.body?.cancel().catch(() => undefined);
    throw new SwitchboardError(
      "attachment-refused",
      "The platform answered with a web page instead of the file. The bot may lack the right to read files.",
    );
  }
  const bytes = await readUpTo(options.maxBytes, response, options.signal);
  const found = mediaType ?? type;
  return { bytes, ...(found ? { mediaType: found } : {}) };
}

/** Follows redirects and checks each address: a public one may redirect to a private one. */
async function follow(source: FileSource, { fetch, hosts, signal }: FetchOptions): Promise<Response> {
  let url = allowed(source.url, source, hosts);
  for (let step = 0; step <= maxRedirects; step += 1) {
    const { token } = source;
    const isTrusted = token !== undefined && isOwn(url, source);
    const { href } = url;
    const response = await untilFailed(() => {
      const headers = new Headers(isTrusted ? { authorization: `Bearer ${token}` } : {});
      return fetch(href, { signal, headers, redirect: "manual" });
    }, signal);
    if (response.ok) return response;
    void response.body?.cancel().catch(() => undefined);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) {
      throw new SwitchboardError("attachment-refused", `An attachment's server answered ${response.status}.`);
    }
    url = allowed(URL.parse(location, url.href)?.href ?? "", source, hosts);
  }
  throw new SwitchboardError("attachment-refused", "An attachment's address redirects too often.");
}

/** The server of the platform's API may be on this machine, and so may its files. */
function allowed(address: string, source: FileSource, hosts: readonly string[] | undefined): URL {
  const url = URL.parse(address);
  if (url === null || !isOwn(url, source)) return parsePublicUrl(address, hosts);
  return isOfApi(url, source) ? url : parsePublicUrl(address);
}

function isOwn(url: URL, source: FileSource): boolean {
  if (isOfApi(url, source)) return true;
  const isOnPort = url.protocol === "https:" && url.port === "";
  return isOnPort && (source.ownHosts ?? []).some((host) => isHost(url.hostname, host));
}

function isOfApi(url: URL, { apiUrl }: FileSource): boolean {
  return apiUrl !== undefined && url.origin === URL.parse(apiUrl)?.origin;
}

async function getJson(url: string, token: string, { fetch, signal }: FetchOptions): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(url, { signal, headers, redirect: "manual" });
  if (!response.ok) void response.body?.cancel().catch(() => undefined);
  if (!response.ok) throw new Error("The platform refuses to tell where the file is.");
  return response.json();
}
