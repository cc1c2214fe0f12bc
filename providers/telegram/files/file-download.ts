import { InvalidInputError, SwitchboardError } from "../../../src/core/base/errors.ts";
import { readUpTo, refuseOver, untilFailed } from "../../../src/core/chat/download.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import type { FetchedFile } from "../../../src/core/chat/messenger.ts";
import type { AttachmentReference } from "../../../src/core/chat/messenger-event.ts";
import type { TelegramClient } from "../client.ts";
import type { FilePaths } from "./file-paths.ts";
import type { TelegramSettings } from "../options.ts";

interface DownloadOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly paths: FilePaths;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Downloads the bytes of a file that a message refers to. The address holds the token. It is made and used only here,
 * and no error contains it (I10).
 *
 * @throws {InvalidInputError} if the reference or the platform's path is not usable, or the file is too large
 * @throws {SwitchboardError} if the download failed and may succeed later
 */
export async function downloadFile(
  reference: AttachmentReference,
  client: TelegramClient,
  settings: TelegramSettings,
  options: DownloadOptions,
): Promise<FetchedFile> {
  const { clock, fetch, maxBytes, paths, signal } = options;
  const fileId = fileIdOf(reference);
  const request = (path: string): Promise<Response> => {
    const url = `${settings.apiBaseUrl}/file/bot${settings.token}/${path}`;
    // A redirect would send the token to another host.
    return untilFailed(() => fetch(url, { signal, redirect: "manual" }), signal);
  };
  let path = paths.get(fileId, clock);
  let response = path === undefined ? undefined : await request(path);
  if (path === undefined || !response?.ok) {
    // The first time, or the known path is no longer valid.
    await response?.body?.cancel();
    paths.forget(fileId);
    const file = await client.call("getFile", { file_id: fileId }, signal);
    refuseOver(maxBytes, file.file_size);
    path = relativePath(file.file_path);
    response = await request(path);
    if (response.ok) paths.set(fileId, path, clock);
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw new SwitchboardError(
      "attachment-refused",
      `The Bot API's file server answered ${response.status} for an attachment.`,
    );
  }
  const bytes = await readUpTo(maxBytes, response, signal);
  const mediaType = mediaTypeOf(path, response.headers.get("content-type"));
  return { bytes, ...(mediaType === undefined ? {} : { mediaType }) };
}

/**
 * Returns the platform's facts about a file. Remembers its path for a later download.
 * @throws {InvalidInputError} when the reference or the platform's path is not usable
 */
export async function fetchFileMetadata(
  reference: AttachmentReference,
  client: TelegramClient,
  { clock, paths, signal }: Pick<DownloadOptions, "clock" | "paths" | "signal">,
): Promise<{ readonly sizeBytes?: number; readonly mediaType?: string }> {
  const fileId = fileIdOf(reference);
  const file = await client.call("getFile", { file_id: fileId }, signal);
  const path = relativePath(file.file_path);
  paths.set(fileId, path, clock);
  const mediaType = mediaTypeOf(path, null);
  return {
    ...(file.file_size !== undefined && { sizeBytes: file.file_size }),
    ...(mediaType !== undefined && { mediaType }),
  };
}

function fileIdOf({ fileId }: AttachmentReference): string {
  if (typeof fileId === "string") return fileId;
  throw new InvalidInputError(
    "attachment-reference",
    "The attachment's reference holds no Telegram file id.",
  );
}

/** Checks that the platform's path stays inside the bot's own folder, and encodes it. */
function relativePath(path: string | undefined): string {
  if (path === undefined || path === "") {
    throw new InvalidInputError("attachment-gone", "The platform no longer offers this attachment.");
  }
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) {
    throw new InvalidInputError(
      "attachment-local-path",
      "The Bot API server keeps files on its own disk (it runs with --local): start it without that option.",
    );
  }
  const segments = path.split("/");
  const isSafe = segments.every(
    (part) => part !== "" && part !== "." && part !== ".." && !/[\\%?#]/.test(part),
  );
  if (!isSafe) {
    throw new InvalidInputError(
      "attachment-path",
      "The platform named a path that leads out of the bot's files.",
    );
  }
  return segments.map((part) => encodeURIComponent(part)).join("/");
}

/** The platform's file server declares every file as a stream of bytes, so the type comes from the path's extension. */
const mediaTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  tgs: "application/x-tgsticker",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  wav: "audio/wav",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
  xml: "application/xml",
  zip: "application/zip",
};

function mediaTypeOf(path: string, header: string | null): string | undefined {
  const named = header?.split(";")[0]?.trim().toLowerCase();
  if (named && named !== "application/octet-stream") return named;
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : mediaTypes[ending];
}
