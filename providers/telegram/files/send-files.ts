import type { FileKind } from "../../../src/core/message/content.ts";
import type {
  Address,
  CallOptions,
  FileCapabilities,
  OutgoingMedia,
  OutgoingMessage,
  PostedMessage,
} from "../../../src/core/chat/surface.ts";
import { z } from "zod";
import { TelegramCallError } from "../call-error.ts";
import type { TelegramClient } from "../client.ts";
import { chatOf, postFields } from "../edit-message.ts";
import { keyboardOf } from "../keyboard.ts";
import { mediaValue } from "./media-value.ts";
import { toMessageEntities } from "../updates/message-fields.ts";
import type { UploadPart } from "./multipart.ts";

const MEBIBYTE = 1024 * 1024;

/** https://core.telegram.org/bots/api#sending-files */
export const telegramFiles: FileCapabilities = {
  maxBytes: (kind) => (kind === "photo" ? 10 : 50) * MEBIBYTE,
  maxAlbumSize: 10,
  callTimeoutMs: 60_000,
};

const methods: Readonly<Record<FileKind, string>> = {
  photo: "sendPhoto",
  document: "sendDocument",
  audio: "sendAudio",
  voice: "sendVoice",
  video: "sendVideo",
  animation: "sendAnimation",
};

/** Posts one file, or several as an album. Streams their bytes. */
export async function sendFiles(
  client: TelegramClient,
  address: Address,
  files: readonly OutgoingMedia[],
  message: OutgoingMessage,
  { openFile, ...reading }: CallOptions,
): Promise<PostedMessage> {
  const uploads: UploadPart[] = [];
  const media = files.map((file, index) => mediaValue(file, `file${index}`, uploads, openFile));
  const caption =
    message.text === "" ? {} : { caption: message.text, caption_entities: toMessageEntities(message) };
  const fields = { chat_id: chatOf(address), ...postFields(address, message) };
  const [first] = files;
  if (files.length === 1 && first !== undefined) {
    const method = methods[first.kind];
    const sent = await client.upload(
      method,
      { ...fields, [first.kind]: media[0], ...caption, ...keyboardOf(message) },
      uploads,
      reading,
    );
    const { file, messageId } = postedOf(method, sent);
    return { messageId, fileIds: [file] };
  }
  const items = files.map(({ kind }, index) => ({
    type: kind,
    media: media[index],
    // Telegram shows the caption of the first file below the album.
    ...(index === 0 && caption),
  }));
  const sent = await client.upload("sendMediaGroup", { ...fields, media: items }, uploads, reading);
  const posted = z
    .array(z.unknown())
    .catch([])
    .parse(sent)
    .map((each) => postedOf("sendMediaGroup", each));
  const [head] = posted;
  if (head === undefined) throw unreadable("sendMediaGroup");
  return {
    messageId: head.messageId,
    messageIds: posted.map(({ messageId }) => messageId),
    fileIds: posted.map(({ file }) => file),
  };
}

const sentFile = z.object({ file_id: z.string() }).optional().catch(undefined);
const sentMessage = z.object({
  message_id: z.int(),
  photo: z
    .array(z.object({ file_id: z.string() }))
    .optional()
    .catch(undefined),
  document: sentFile,
  audio: sentFile,
  voice: sentFile,
  video: sentFile,
  animation: sentFile,
});

/** Reads the answer. Telegram may change the kind of a file: a short GIF becomes an animation. */
function postedOf(
  method: string,
  sent: unknown,
): { readonly messageId: string; readonly file: string | undefined } {
  const message = sentMessage.safeParse(sent);
  if (!message.success) throw unreadable(method);
  const { animation, audio, document, message_id: messageId, photo, video, voice } = message.data;
  const file = photo?.at(-1) ?? animation ?? video ?? audio ?? voice ?? document;
  return { messageId: String(messageId), file: file?.file_id };
}

/** Returns the error for a call that was done, but whose answer cannot be read. */
function unreadable(method: string): TelegramCallError {
  return new TelegramCallError(method, { kind: "unknown", code: "answer-unreadable" });
}
