import { createHash } from "node:crypto";
import type {
  FileAddress,
  FileKind,
  FileSource,
  OutgoingFile,
  StoredFile,
} from "../../src/core/message/content.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import { InvalidInputError, SwitchboardError } from "../../src/core/base/errors.ts";
import { plainMarkdown } from "../../src/core/message/plain-markdown.ts";
import { parsePublicUrl } from "../../src/core/web/public-url.ts";
import type { ByteSource } from "../../src/core/message/reply-attachment.ts";
import type { FileCapabilities, OutgoingMedia } from "../../src/core/chat/surface.ts";
import { HEAD_BYTES, MAX_PIECE_BYTES } from "./file-store.ts";
import type { FileStore } from "./file-store.ts";
import { actualKind, defaultName, isAnimatedGif, mediaTypeOf, photoTypeOf } from "./file-facts.ts";

export interface StoreFileOptions {
  readonly store: FileStore;
  readonly deps: Pick<Deps, "clock" | "fetch" | "newId">;
  readonly capabilities: FileCapabilities;
  readonly signal: AbortSignal;
}

/** Largest file, in bytes. No platform accepts larger ones from a bot. */
const MOST_BYTES = 50 * 1024 * 1024;
const MOST_REDIRECTS = 3;

/**
 * Makes a file durable, so that it can be sent after a crash. Its bytes are stored in pieces and never all in memory.
 *
 * @throws {InvalidInputError} `file-too-large`, `file-empty`, `file-address`, `file-name`, `file-source`
 * @throws {SwitchboardError} `file-refused`, `file-unreachable`, `file-unreadable`; a later try may succeed
 */
export async function storeFile(file: OutgoingFile, options: StoreFileOptions): Promise<OutgoingMedia> {
  const { kind, name, source } = file;
  if (name !== undefined) checkName(name);
  const hasReferences = options.capabilities.references !== false;
  if (isPlain(source) && "fileId" in source) {
    if (!hasReferences) throw unsupported("files by id. Give the bytes or an address");
    return described(file, kind, { kind: "platform", fileId: source.fileId }, undefined);
  }
  if (isPlain(source) && "storedId" in source) return reused(file, source.storedId, options);
  if (isPlain(source) && source.fetchedBy === "platform" && hasReferences)
    return described(file, kind, addressed(source), undefined);
  if (limitOf(options.capabilities, kind) === 0) return linkTo(file);
  const { mediaType, stream } = await openSource(source, options);
  const { head, ...stored } = await write(stream, limitOf(options.capabilities, kind), options);
  if (!(await isShown(kind, head, stored.hash, options))) return linkTo(file);
  const type = mediaType ?? photoTypeOf(kind, head);
  const media = described(file, actualKind(kind, head), { kind: "bytes", ...stored }, type);
  return isPlain(source) ? { ...media, url: source.url } : media;
}

/**
 * Returns a file for a platform that takes none: people get a link to it.
 *
 * @throws {InvalidInputError} `files-unsupported` if the file has no address
 */
export function linkedFile(file: OutgoingFile): OutgoingMedia {
  const { kind, name, source } = file;
  if (name !== undefined) checkName(name);
  if (!isPlain(source) || !("url" in source))
    throw unsupported("files of this kind. Only a file with an address can be linked");
  return described(file, kind, addressed(source), undefined);
}

/** Returns a file of a kind that the platform does not take. People read a link in its place. */
function linkTo(file: OutgoingFile): OutgoingMedia {
  const linked = linkedFile(file);
  const { name, source } = linked;
  const url = source.kind === "address" ? source.url : "";
  return { ...linked, refusal: { code: UNSUPPORTED, text: `[${plainMarkdown(name)}](<${url}>)` } };
}

function addressed({ url }: FileAddress): OutgoingMedia["source"] {
  return { kind: "address", url: parsePublicUrl(url, undefined, ADDRESS).href };
}

const UNSUPPORTED = "files-unsupported";

function unsupported(what: string): InvalidInputError {
  return new InvalidInputError(UNSUPPORTED, `The platform of this messenger takes no ${what}.`);
}

/**
 * Makes bytes durable that a later `storeFile` may name by their id.
 *
 * @throws {InvalidInputError} `file-too-large`, `file-empty`, `file-source`
 * @throws {SwitchboardError} `file-unreadable`
 */
export async function storeBytes(
  source: ByteSource,
  options: Omit<StoreFileOptions, "capabilities">,
): Promise<StoredFile> {
  const { stream } = await openSource(source, options);
  const { hash, sizeBytes } = await write(stream, MOST_BYTES, options);
  return { storedId: hash, sizeBytes };
}

async function reused(file: OutgoingFile, hash: string, options: StoreFileOptions): Promise<OutgoingMedia> {
  const { capabilities, deps, store } = options;
  const found = store.reuse(hash, deps.newId(), deps.clock.now());
  if (found === undefined)
    throw new InvalidInputError("file-source", "The file is not stored any more. Give its bytes again.");
  const { head, sizeBytes } = found;
  const limit = limitOf(capabilities, file.kind);
  if (limit === 0) return linkTo(file);
  if (sizeBytes > limit) throw tooLarge(limit);
  if (!(await isShown(file.kind, head, hash, options))) return linkTo(file);
  const type = photoTypeOf(file.kind, head);
  return described(file, actualKind(file.kind, head), { kind: "bytes", hash, sizeBytes }, type);
}

/** A platform that shows some types of pictures shows none that move. */
async function isShown(
  kind: FileKind,
  head: Uint8Array,
  hash: string,
  { capabilities: { photoTypes }, store }: StoreFileOptions,
): Promise<boolean> {
  if (kind !== "photo" || photoTypes === undefined) return true;
  const type = photoTypeOf(kind, head);
  if (type === undefined || !photoTypes.includes(type)) return false;
  if (type !== "image/gif") return true;
  const { value } = await store.open(hash).getReader().read();
  return value === undefined || !isAnimatedGif(value);
}

const ADDRESS = { code: "file-address", owner: "A file's" };

function described(
  { mediaType, name }: OutgoingFile,
  kind: FileKind,
  source: OutgoingMedia["source"],
  found: string | undefined,
): OutgoingMedia {
  const type = plainTypeOf(mediaType) ?? plainTypeOf(found) ?? mediaTypeOf(kind, name);
  return { kind, name: name ?? defaultName(kind, type), mediaType: type, source };
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/**
 * Returns a media type without its parameters. Anything else is ignored: it may come from a sender or a server, and
 * becomes a header of the upload.
 */
function plainTypeOf(mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(";")[0]?.trim().toLowerCase();
  return type !== undefined && MEDIA_TYPE.test(type) ? type : undefined;
}

function checkName(name: string): void {
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (name.length > 0 && name.length <= 255 && !/[\u0000-\u001f\u007f]/.test(name)) return;
  throw new InvalidInputError(
    "file-name",
    "A file's name has 1 to 255 characters, none of them a control character.",
  );
}

type PlainSource = { readonly fileId: string } | StoredFile | FileAddress;

function isPlain(source: FileSource): source is PlainSource {
  if (typeof source !== "object" || source === null) return false;
  return !(source instanceof Uint8Array || source instanceof Blob || source instanceof ReadableStream);
}

interface Opened {
  readonly stream: ReadableStream<Uint8Array>;
  readonly mediaType: string | undefined;
}

async function openSource(
  source: Exclude<FileSource, { fileId: string } | StoredFile>,
  options: Pick<StoreFileOptions, "deps" | "signal">,
): Promise<Opened> {
  if (source instanceof ReadableStream) return { stream: source, mediaType: undefined };
  if (source instanceof Uint8Array) return { stream: streamOf(source), mediaType: undefined };
  if (source instanceof Blob) return { stream: source.stream(), mediaType: source.type || undefined };
  if (typeof source === "object" && source !== null && "url" in source) return openAddress(source, options);
  throw new InvalidInputError(
    "file-source",
    "A file has no usable source. Give a Uint8Array, a Blob, a ReadableStream, { fileId } or { url }.",
  );
}

/** Streams bytes one piece at a time, as copies. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, (at += MAX_PIECE_BYTES)));
    },
  });
}

/** Follows redirects and checks each address: a public one may redirect to a private one. */
async function openAddress(
  { url }: FileAddress,
  { deps, signal }: Pick<StoreFileOptions, "deps" | "signal">,
): Promise<Opened> {
  let address = parsePublicUrl(url, undefined, ADDRESS);
  for (let step = 0; step <= MOST_REDIRECTS; step += 1) {
    const response = await request(address, deps.fetch, signal);
    if (response.ok) {
      const mediaType = plainTypeOf(response.headers.get("content-type") ?? undefined);
      const isTold = mediaType !== undefined && mediaType !== "application/octet-stream";
      return {
        stream: response.body ?? streamOf(new Uint8Array()),
        mediaType: isTold ? mediaType : undefined,
      };
    }
    void response.body?.cancel().catch(() => undefined);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null)
      throw new SwitchboardError(
        "file-refused",
        `The server of a file's address answered ${response.status}.`,
      );
    address = parsePublicUrl(URL.parse(location, address.href)?.href ?? "", undefined, ADDRESS);
  }
  throw new SwitchboardError("file-refused", "A file's address redirects too often.");
}

async function request(address: URL, fetch: typeof globalThis.fetch, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(address.href, { signal, redirect: "manual" });
  } catch {
    // The error's message may contain the address, which may be signed.
    throw new SwitchboardError("file-unreachable", "The server of a file's address did not answer.");
  }
}

interface Written {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly head: Uint8Array;
}

async function write(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  { deps, signal, store }: Omit<StoreFileOptions, "capabilities">,
): Promise<Written> {
  const id = store.begin(deps.clock.now());
  const hash = createHash("sha256");
  const buffer = new Uint8Array(MAX_PIECE_BYTES);
  let filled = 0;
  let pieces = 0;
  let sizeBytes = 0;
  let head = new Uint8Array();
  const flush = (): void => {
    if (filled === 0) return;
    store.add(id, pieces, buffer.subarray(0, filled));
    pieces += 1;
    filled = 0;
  };
  const reader = stream.getReader();
  try {
    for (;;) {
      const value = await read(reader, signal);
      if (value === undefined) break;
      sizeBytes += value.length;
      if (sizeBytes > limit) throw tooLarge(limit);
      hash.update(value);
      for (let at = 0; at < value.length;) {
        const part = value.subarray(at, at + MAX_PIECE_BYTES - filled);
        buffer.set(part, filled);
        filled += part.length;
        at += part.length;
        if (pieces === 0) head = buffer.slice(0, Math.min(filled, HEAD_BYTES));
        if (filled === MAX_PIECE_BYTES) flush();
      }
    }
    if (sizeBytes === 0)
      throw new InvalidInputError("file-empty", "A file without a single byte cannot be sent.");
    flush();
    const digest = hash.digest("hex");
    store.finish(id, digest, sizeBytes, deps.clock.now());
    return { hash: digest, sizeBytes, head };
  } catch (error) {
    store.discard(id);
    throw error;
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function limitOf({ maxBytes }: FileCapabilities, kind: FileKind): number {
  return Math.min(MOST_BYTES, maxBytes(kind));
}

function tooLarge(limit: number): InvalidInputError {
  return new InvalidInputError(
    "file-too-large",
    `The file has more than ${limit} bytes, which is the most that can be sent of its kind.`,
  );
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void =>
    aborted.reject(new SwitchboardError("file-unreadable", "Reading a file took too long."));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    const { done, value } = await Promise.race([reader.read(), aborted.promise]);
    if (done) return undefined;
    if (value instanceof Uint8Array) return value;
    throw new InvalidInputError("file-source", "A file's stream must give Uint8Array pieces.");
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    throw new SwitchboardError("file-unreadable", "A file's stream failed before its end.");
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
