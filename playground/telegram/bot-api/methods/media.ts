import { extname } from "node:path";
import type { Location, PhotoSize } from "grammy/types";
import { badRequest, BotApiError } from "../bot-api-error.ts";
import type { CallParameters } from "../call-parameters.ts";
import { readImageSize } from "../../chats/image-size.ts";
import { parseMarkup } from "../../chats/reply-markup.ts";
import type { UploadedFile } from "../request-body.ts";
import type { Media, StoredFile, World } from "../../chats/world.ts";
import { replyTarget, shown, writableTopic, writableChat } from "./context.ts";
import type { Method } from "./context.ts";
import { mannerOf } from "./manner.ts";
import { edit, maxCaptionLength } from "./text.ts";

export type MediaKind = "photo" | "document" | "voice" | "audio" | "video" | "animation";

const megabyte = 1024 * 1024;
const maxUploadBytes = 50 * megabyte;
const maxPhotoBytes = 10 * megabyte;
const maxDownloadBytes = 20 * megabyte;

const folders: Record<MediaKind, string> = {
  photo: "photos",
  document: "documents",
  voice: "voice",
  audio: "music",
  video: "videos",
  animation: "animations",
};

/**
 * Stores an upload and describes it as the Bot API does.
 * @throws {BotApiError} for a photo that is not an image
 */
export function storeMedia(
  world: World,
  kind: MediaKind,
  upload: UploadedFile,
  details: Readonly<Record<string, unknown>> = {},
): Media {
  const extension = kind === "photo" ? ".jpg" : kind === "voice" ? ".oga" : extname(upload.fileName);
  const size = kind === "photo" ? readImageSize(upload.bytes) : undefined;
  if (kind === "photo" && size === undefined) throw badRequest("IMAGE_PROCESS_FAILED");
  const file = world.addFile({
    bytes: upload.bytes,
    mimeType: upload.mimeType,
    folder: folders[kind],
    extension,
  });
  return describe(world, kind, file, upload.fileName, size, details);
}

function describe(
  world: World,
  kind: MediaKind,
  file: StoredFile,
  fileName: string,
  size: { readonly width: number; readonly height: number } | undefined,
  details: Readonly<Record<string, unknown>>,
): Media {
  const base = fileFields(file);
  const duration = Number(details.duration ?? 0) || 0;
  switch (kind) {
    case "photo":
      return { photo: photoSizes(world, file, size ?? { width: 1, height: 1 }) };
    case "document":
      return { document: { ...base, file_name: fileName, mime_type: file.mimeType } };
    case "voice":
      return { voice: { ...base, duration, mime_type: "audio/ogg" } };
    case "audio":
      return { audio: { ...base, duration, file_name: fileName, mime_type: file.mimeType } };
    case "animation": {
      const file_name = fileName;
      const mime_type = file.mimeType;
      const animation = { ...base, duration, width: 320, height: 240, file_name, mime_type };
      return { animation, document: { ...base, file_name, mime_type } };
    }
    case "video": {
      const width = Number(details.width ?? 0) || 640;
      const height = Number(details.height ?? 0) || 360;
      return { video: { ...base, duration, width, height, file_name: fileName, mime_type: file.mimeType } };
    }
  }
}

function fileFields(file: StoredFile): Pick<PhotoSize, "file_id" | "file_unique_id" | "file_size"> {
  return { file_id: file.fileId, file_unique_id: file.uniqueId, file_size: file.sizeBytes };
}

const smallerSizes = [
  { name: "s", longest: 90 },
  { name: "m", longest: 320 },
  { name: "x", longest: 800 },
  { name: "y", longest: 1280 },
];

/** Returns the sizes of a photo: smaller copies first, the picture itself last. All have the same bytes here. */
function photoSizes(
  world: World,
  photo: StoredFile,
  size: { readonly width: number; readonly height: number },
): PhotoSize[] {
  const longest = Math.max(size.width, size.height);
  const scaled = (file: StoredFile, scale: number): PhotoSize => ({
    ...fileFields(file),
    width: Math.max(1, Math.round(size.width * scale)),
    height: Math.max(1, Math.round(size.height * scale)),
  });
  const smaller = smallerSizes
    .filter((one) => one.longest < longest)
    .map((one) => {
      const scale = one.longest / longest;
      const sizeBytes = Math.max(1, Math.round(photo.sizeBytes * scale ** 2));
      return scaled(world.addCopy(photo, one.name, sizeBytes), scale);
    });
  return [...smaller, scaled(photo, Math.min(1, 2560 / longest))];
}

/** Returns the file of a call: an upload, or a file that Telegram already has, by its id. */
function mediaOf(
  world: World,
  kind: MediaKind,
  parameters: CallParameters,
  name: string,
  value: unknown,
): Media {
  const upload = parameters.upload(name, value);
  if (upload !== undefined) {
    const limit = kind === "photo" ? maxPhotoBytes : maxUploadBytes;
    if (upload.bytes.length === 0) throw badRequest("file must be non-empty");
    if (upload.bytes.length > limit) {
      throw kind === "photo"
        ? badRequest("file is too big")
        : new BotApiError(413, "Request Entity Too Large");
    }
    return storeMedia(world, kind, upload, parameters.raw.values);
  }
  if (typeof value !== "string" || value === "") throw badRequest(`there is no ${kind} in the request`);
  if (/^https?:/i.test(value)) return mediaBehind(world, kind, value, parameters);
  const named = world.requireFile(value);
  requireSameKind(kind, named);
  const file = (named.copyOf === undefined ? undefined : world.files.get(named.copyOf)) ?? named;
  const size = kind === "photo" ? readImageSize(file.bytes) : undefined;
  return describe(world, kind, file, file.path.split("/").at(-1) ?? "", size, parameters.raw.values);
}

/** Returns the file behind a web address, if this world has one. */
function mediaBehind(world: World, kind: MediaKind, address: string, parameters: CallParameters): Media {
  const bytes = world.webFiles.get(address);
  if (bytes === undefined) throw badRequest("failed to get HTTP URL content");
  const fileName = address.split("/").at(-1) ?? "";
  const known = [...world.files.values()].find((file) => file.bytes === bytes && isOfKind(kind, file));
  if (known !== undefined)
    return describe(world, kind, known, fileName, readImageSize(bytes), parameters.raw.values);
  return storeMedia(world, kind, { bytes, fileName, mimeType: "image/png" }, parameters.raw.values);
}

function isOfKind(kind: MediaKind, { copyOf, path }: StoredFile): boolean {
  return copyOf === undefined && path.startsWith(`${folders[kind]}/`);
}

/** Checks that a file is sent again as the same kind. The id of a photo is not valid for a document. */
function requireSameKind(kind: MediaKind, { path }: StoredFile): void {
  const [folder] = path.split("/");
  if (folder === folders[kind]) return;
  const known = (Object.keys(folders) as MediaKind[]).find((candidate) => folders[candidate] === folder);
  throw badRequest(`can't use file of type ${title(known ?? "document")} as ${title(kind)}`);
}

function title(kind: MediaKind): string {
  return kind === "voice" ? "VoiceNote" : kind.charAt(0).toUpperCase() + kind.slice(1);
}

function send(kind: MediaKind): Method {
  return (context, parameters) => {
    const caption = parameters.formatted("caption", "caption_entities");
    const markup = parseMarkup(parameters.json("reply_markup", "reply keyboard markup"));
    const chat = writableChat(context, parameters);
    const threadId = writableTopic(chat, parameters);
    const reply = replyTarget(chat, parameters);
    if (caption.text.length > maxCaptionLength) throw badRequest("message caption is too long");
    const media = mediaOf(context.world, kind, parameters, kind, parameters.raw.values[kind]);
    const message = context.world.addMessage(chat, {
      from: context.world.bot,
      ...caption,
      media,
      ...reply,
      ...mannerOf(parameters),
      ...(threadId !== undefined && { threadId }),
      ...(markup !== undefined && { markup }),
    });
    return shown(context, chat, message);
  };
}

export const sendPhoto = send("photo");
export const sendDocument = send("document");
export const sendVoice = send("voice");
export const sendAudio = send("audio");
export const sendVideo = send("video");
export const sendAnimation = send("animation");

/** Replaces the file of a message, with its caption. A message without a file gets none. */
export const editMessageMedia: Method = (context, parameters) => {
  const given = parameters.json("media");
  const fields = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  const kind = editableKinds.find((candidate) => candidate === fields.type);
  if (kind === undefined) throw badRequest(`can't parse InputMedia: type "${String(fields.type)}"`);
  const caption = parameters.formatted("caption", "caption_entities", fields);
  if (caption.text.length > maxCaptionLength) throw badRequest("message caption is too long");
  return edit(context, parameters, (message) => {
    if (message.media === undefined || message.media.location !== undefined)
      throw badRequest("there is no media in the message to edit");
    return { ...caption, media: mediaOf(context.world, kind, parameters, "media", fields.media) };
  });
};

const editableKinds = ["photo", "document", "audio", "video", "animation"] as const;

function place(mediaOfPlace: (location: Location, parameters: CallParameters) => Media): Method {
  return (context, parameters) => {
    const markup = parseMarkup(parameters.json("reply_markup", "reply keyboard markup"));
    const chat = writableChat(context, parameters);
    const threadId = writableTopic(chat, parameters);
    const reply = replyTarget(chat, parameters);
    const location = {
      latitude: degrees(parameters, "latitude", 90),
      longitude: degrees(parameters, "longitude", 180),
    };
    const message = context.world.addMessage(chat, {
      from: context.world.bot,
      media: mediaOfPlace(location, parameters),
      ...reply,
      ...mannerOf(parameters),
      ...(threadId !== undefined && { threadId }),
      ...(markup !== undefined && { markup }),
    });
    return shown(context, chat, message);
  };
}

function degrees(parameters: CallParameters, name: string, limit: number): number {
  const value = Number(parameters.string(name));
  if (parameters.string(name) === "") throw badRequest(`${name} is empty`);
  if (!Number.isFinite(value) || Math.abs(value) > limit)
    throw badRequest("wrong latitude or longitude specified");
  return value;
}

export const sendLocation = place((location) => ({ location }));
export const sendVenue = place((location, parameters) => {
  const title = parameters.string("title");
  const address = parameters.string("address");
  if (title === "") throw badRequest("title must be non-empty");
  if (address === "") throw badRequest("address must be non-empty");
  return { location, venue: { location, title, address } };
});

const albumKinds = ["photo", "document", "audio", "video"] as const;

export const sendMediaGroup: Method = (context, parameters) => {
  const items = parameters.json("media");
  if (!Array.isArray(items)) throw badRequest("expected an Array of InputMedia");
  const chat = writableChat(context, parameters);
  const threadId = writableTopic(chat, parameters);
  const reply = replyTarget(chat, parameters);
  if (items.length === 0) throw badRequest("there are no messages to send");
  if (items.length > 10) throw badRequest("too many messages to send as an album");
  const parsed = items.map((item: unknown) => {
    const fields = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
    const kind = albumKinds.find((candidate) => candidate === fields.type);
    if (kind === undefined) {
      throw badRequest(
        `can't parse InputMedia: type "${String(fields.type)}" can't be used in sendMediaGroup`,
      );
    }
    const caption = parameters.formatted("caption", "caption_entities", fields);
    if (caption.text.length > maxCaptionLength) throw badRequest("message caption is too long");
    return { kind, caption, value: fields.media };
  });
  const kinds = new Set(parsed.map(({ kind }) => (kind === "video" ? "photo" : kind)));
  if (kinds.size > 1) throw badRequest("Can't use the media of the specified type in the album");
  const ready = parsed.map(({ kind, caption, value }) => ({
    caption,
    media: mediaOf(context.world, kind, parameters, "media", value),
  }));
  const mediaGroupId = newMediaGroupId(context.world);
  return ready
    .map(({ caption, media }) =>
      context.world.addMessage(chat, {
        from: context.world.bot,
        ...caption,
        media,
        mediaGroupId,
        ...reply,
        ...mannerOf(parameters),
        ...(threadId !== undefined && { threadId }),
      }),
    )
    .map((message) => shown(context, chat, message));
};

export function newMediaGroupId(world: World): string {
  return `137${world.clock.now()}${world.privateBox.lastId}${world.files.size}`;
}

export const getFile: Method = (context, parameters) => {
  const fileId = parameters.string("file_id");
  if (fileId === "") throw badRequest("file_id not specified");
  const file = context.world.files.get(fileId);
  if (file === undefined) throw badRequest("invalid file_id");
  if (file.bytes.length > maxDownloadBytes) throw badRequest("file is too big");
  return {
    ...fileFields(file),
    file_path: file.path,
  };
};
