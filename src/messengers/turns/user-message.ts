import { z } from "zod";
import type { UIMessage } from "ai";
import { logBotFailure } from "../../core/time/bot-code.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { Log } from "../../core/base/log.ts";
import { inOneLine } from "../../core/text/one-line.ts";
import type {
  AttachmentReference,
  MessengerAttachment,
  MessengerAuthor,
  MessengerEvent,
  QuotedMessage,
} from "../../core/chat/messenger-event.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { fromPeople } from "./own-marks.ts";

type UserParts = UIMessage["parts"];
type MediaSettings = Pick<
  NormalizedMessengerDefinition,
  "acceptsMedia" | "maxMediaBytes" | "channelSpeakerLabel"
>;

/** Longest text of a quoted message that the model gets, in characters. */
const MAX_QUOTE_LENGTH = 1000;
/** Longest name of a speaker, in characters. */
const MAX_NAME_LENGTH = 64;
/** All line breaks that a reader may see. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
/** Longest text file that is read into the conversation, in bytes. */
export const MAX_TEXT_FILE_BYTES = 200_000;
const REFERENCE_SCHEME = "switchboard-attachment:";
const TEXT_FILE = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson)\b)/i;
const TEXT_FILE_NAME =
  /\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|log|ini|conf|py|js|ts|tsx|jsx|sh|sql|go|rs|java|c|h|cpp)$/i;

/** Media type for a file of unknown type. Its bytes tell later whether it is text. */
export const MAYBE_TEXT = "text/x-maybe";
const HAS_ENDING = /[^.]\.[a-z0-9]{1,8}$/i;

/** Returns the parts of one user message that holds several chat messages, in order. */
export function userParts(
  events: readonly MessengerEvent[],
  settingsOf: (messengerId: string) => MediaSettings,
  log: Log,
  { transcribes = false }: { readonly transcribes?: boolean } = {},
): UserParts {
  const parts: UserParts = [];
  let text = "";
  for (const event of events) {
    const settings = settingsOf(event.messengerId);
    const label = speakerLabel(event, settings, log);
    const lines = [textOf(event)];
    const files: UserParts = [];
    const attachments = [
      ...(event.message?.attachments ?? []),
      ...(event.message?.quoted?.attachments ?? []),
    ];
    for (const attachment of attachments) {
      if (isRead(attachment, settings)) files.push(filePart(event.messengerId, attachment, settings));
      else if (transcribes && isAudio(attachment))
        files.push(filePart(event.messengerId, attachment, settings, { isTranscribed: true }));
      // The text of a sticker already describes it.
      else if (attachment.kind !== "sticker" || lines.join("") === "") lines.push(describe(attachment));
    }
    const said = lines.filter((line) => line !== "").join("\n");
    const block = label === undefined ? said : `${label}: ${said.replaceAll(LINE_BREAK, "\n  ")}`;
    if (block !== "") text += text === "" ? block : `\n${block}`;
    parts.push(...files);
  }
  return [{ type: "text", text: fromPeople(text) }, ...parts];
}

function textOf({ action, message }: MessengerEvent): string {
  return action === undefined
    ? quoted(message?.quoted) + (message?.text ?? "").trim()
    : `[Button pressed: ${action.data}]`;
}

/**
 * Returns the label with the speaker's name, for a message of a group. In a private chat there is no label.
 *
 * Nobody can fake a label: further lines of a message are indented, and a label has no line breaks and, unless the bot
 * made it, no colons. So a line that starts at the margin with a name and a colon is always a real label.
 */
function speakerLabel(event: MessengerEvent, settings: MediaSettings, log: Log): string | undefined {
  const { author } = event;
  if (event.thread.isDirectMessage || author === undefined || settings.channelSpeakerLabel === false)
    return undefined;
  if (typeof settings.channelSpeakerLabel === "function") {
    try {
      return inOneLine(settings.channelSpeakerLabel(author));
    } catch (error) {
      // The function threw, or returned no text. The message is answered with the usual name.
      logBotFailure(log.with(eventFields(event.messengerId, event)), "channelSpeakerLabel", error);
    }
  }
  const name = inOneLine(nameOf(author)).replaceAll(/\s*[:：]\s*/g, " ");
  return clip(name.trim()) || author.userId;
}

function clip(name: string): string {
  const characters = Array.from(name);
  return characters.length > MAX_NAME_LENGTH ? `${characters.slice(0, MAX_NAME_LENGTH).join("")}…` : name;
}

function nameOf(author: MessengerAuthor): string {
  return author.fullName || author.userName || author.userId;
}

function quoted(quote: QuotedMessage | undefined): string {
  if (quote === undefined || quote.text === "") return "";
  const whose = quote.isFromBot
    ? "your message"
    : quote.author === undefined
      ? "a message"
      : `${clip(inOneLine(nameOf(quote.author)))}'s message`;
  const text =
    quote.text.length > MAX_QUOTE_LENGTH
      ? `${quote.text.slice(0, MAX_QUOTE_LENGTH).replace(/[\uD800-\uDBFF]$/, "")}…`
      : quote.text;
  return `[In reply to ${whose}: "${text}"]\n`;
}

function isRead(attachment: MessengerAttachment, settings: MediaSettings): boolean {
  const size = attachment.sizeBytes ?? 0;
  if (isTextFile(attachment.mediaType, attachment.name) || mayBeText(attachment, settings))
    return size <= Math.min(settings.maxMediaBytes, MAX_TEXT_FILE_BYTES);
  const mediaType = attachment.mediaType;
  return (
    mediaType !== undefined && size <= settings.maxMediaBytes && isAccepted(mediaType, settings.acceptsMedia)
  );
}

function isAudio({ kind }: MessengerAttachment): boolean {
  return kind === "voice" || kind === "audio";
}

/**
 * Tells whether a document may be text: it has no media type, and its name has no extension, such as `README`,
 * `Makefile` or `.gitignore`.
 */
function mayBeText(
  { kind, mediaType, name }: MessengerAttachment,
  { acceptsMedia }: Pick<MediaSettings, "acceptsMedia">,
): boolean {
  if (kind !== "document" || name === undefined || HAS_ENDING.test(name)) return false;
  return mediaType === undefined || (isUntyped(mediaType) && !isAccepted(mediaType, acceptsMedia));
}

function isUntyped(mediaType: string | undefined): boolean {
  return mediaType === undefined || mediaType === "application/octet-stream";
}

/** Tells whether a media type is accepted. Letter case does not matter, and programs use any. */
function isAccepted(mediaType: string, accepted: readonly string[]): boolean {
  const type = mediaType.toLowerCase();
  return accepted.some((each) => {
    const pattern = each.toLowerCase();
    if (pattern === "*" || pattern === "*/*") return true;
    return pattern.endsWith("/*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
  });
}

/** Tells whether a file is read as text instead of being passed to the model as a file. */
export function isTextFile(mediaType: string | undefined, name: string | undefined): boolean {
  if (mediaType !== undefined && TEXT_FILE.test(mediaType)) return true;
  return isUntyped(mediaType) && TEXT_FILE_NAME.test(name ?? "");
}

/** Returns the line for a file that the model does not get. */
export function describe(
  attachment: Pick<MessengerAttachment, "kind" | "name" | "mediaType" | "sizeBytes">,
): string {
  const details = [
    attachment.name,
    attachment.mediaType === MAYBE_TEXT ? undefined : attachment.mediaType,
    attachment.sizeBytes === undefined ? undefined : size(attachment.sizeBytes),
  ];
  const known = details.filter((detail) => detail !== undefined && detail !== "");
  return known.length === 0 ? `[${attachment.kind}]` : `[${attachment.kind}: ${known.join(", ")}]`;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** A file in the transcript: a reference, never its bytes and never a URL with a token in it. */
export interface StoredFile {
  readonly messengerId: string;
  readonly reference: AttachmentReference;
  /** Undefined in older transcripts. */
  readonly kind?: MessengerAttachment["kind"];
  /** Whether the model gets the transcript of `transcribe` in place of the bytes. */
  readonly isTranscribed?: true;
  readonly sizeBytes?: number;
}

const storedFileSchema = z.object({
  messengerId: z.string(),
  reference: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  kind: z.custom<MessengerAttachment["kind"]>((kind) => typeof kind === "string").optional(),
  isTranscribed: z.literal(true).optional(),
  sizeBytes: z.number().optional(),
});

function filePart(
  messengerId: string,
  attachment: MessengerAttachment,
  settings: MediaSettings,
  { isTranscribed }: { readonly isTranscribed?: true } = {},
): UserParts[number] {
  const { kind, reference, sizeBytes } = attachment;
  const stored: StoredFile = {
    messengerId,
    reference,
    kind,
    ...(isTranscribed && { isTranscribed, ...(sizeBytes !== undefined && { sizeBytes }) }),
  };
  const mediaType = attachment.mediaType ?? "application/octet-stream";
  return {
    type: "file",
    mediaType: mayBeText(attachment, settings) ? MAYBE_TEXT : mediaType,
    url: REFERENCE_SCHEME + encodeURIComponent(JSON.stringify(stored)),
    ...(attachment.name !== undefined && { filename: attachment.name }),
  };
}

/** Returns the reference in a file part of the transcript. Undefined for any other URL. */
export function parseStoredFile(url: string): StoredFile | undefined {
  if (!url.startsWith(REFERENCE_SCHEME)) return undefined;
  return storedFileSchema.parse(JSON.parse(decodeURIComponent(url.slice(REFERENCE_SCHEME.length))));
}
