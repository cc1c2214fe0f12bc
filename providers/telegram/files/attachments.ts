import type { MessengerAttachment } from "../../../src/core/chat/messenger-event.ts";
import type { MessageContent, TelegramFile } from "../updates/message-schema.ts";

/** A photo has several sizes. Sizes above this are useless to a model and slow to fetch. */
const maxPhotoBytes = 10 * 1024 * 1024;

/** Returns the files of a message, as references that stay valid as long as the platform keeps the file. */
export function attachmentsOf(content: MessageContent): MessengerAttachment[] {
  const { animation, audio, document, sticker, video, video_note: videoNote, voice } = content;
  const photo = bestPhoto(content.photo ?? []);
  const found: MessengerAttachment[] = [];
  if (photo) found.push(attachment("image", photo, "image/jpeg"));
  if (animation) found.push(attachment("animation", animation, "video/mp4"));
  // An animation comes with a copy of itself as a document, for old clients.
  else if (document) found.push(attachment("document", document));
  if (audio) found.push(attachment("audio", audio));
  if (voice) found.push(attachment("voice", voice, "audio/ogg"));
  if (video) found.push(attachment("video", video, "video/mp4"));
  if (videoNote) found.push(attachment("video", videoNote, "video/mp4"));
  if (sticker) found.push(attachment("sticker", sticker, stickerMediaType(sticker)));
  return found;
}

function bestPhoto(sizes: readonly TelegramFile[]): TelegramFile | undefined {
  // Sizes come in ascending order.
  return sizes.findLast((size) => (size.file_size ?? 0) <= maxPhotoBytes) ?? sizes[0];
}

function stickerMediaType(sticker: NonNullable<MessageContent["sticker"]>): string {
  if (sticker.is_animated) return "application/x-tgsticker";
  return sticker.is_video ? "video/webm" : "image/webp";
}

function attachment(
  kind: MessengerAttachment["kind"],
  file: TelegramFile,
  defaultMediaType?: string,
): MessengerAttachment {
  const mediaType = file.mime_type ?? defaultMediaType;
  return {
    kind,
    reference: {
      fileId: file.file_id,
      ...(file.file_unique_id ? { uniqueId: file.file_unique_id } : {}),
    },
    ...(mediaType ? { mediaType } : {}),
    ...(file.file_name ? { name: file.file_name } : {}),
    ...(typeof file.file_size === "number" ? { sizeBytes: file.file_size } : {}),
  };
}
