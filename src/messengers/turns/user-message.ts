import type { UIMessage } from "ai";
import { logBotFailure } from "../../core/bot-code.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { Log } from "../../core/log.ts";
import type {
  AttachmentReference,
  MessengerAttachment,
  MessengerAuthor,
  MessengerEvent,
  QuotedMessage,
} from "../../core/messenger-event.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";

type UserParts = UIMessage["parts"];
type MediaSettings = Pick<
  NormalizedMessengerDefinition,
  "acceptsMedia" | "maxMediaBytes" | "channelSpeakerLabel"
>;

/** Longest text of a quoted message that the model gets, in characters. */
const MAX_QUOTE_LENGTH = 1000;
/** Longest name of a speaker, in characters. */
const MAX_NAME_LENGTH = 64;
/** Everything that a reader may take for the beginning of a line. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
/** Longest text file that is read into the conversation, in bytes. */
export const MAX_TEXT_FILE_BYTES = 200_000;
const REFERENCE_SCHEME = "switchboard-attachment:";
const TEXT_FILE = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson)\b)/i;
const TEXT_FILE_NAME =
  /\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|log|ini|conf|py|js|ts|tsx|jsx|sh|sql|go|rs|java|c|h|cpp)$/i;

/** Stands for the type of a file of which nothing is known: it is looked at whether it is text. */
export const MAYBE_TEXT = "text/x-maybe";
const HAS_ENDING = /[^.]\.[a-z0-9]{1,8}$/i;

/** The parts of one user message that says what several chat messages said, in their order. */
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
      // The text of a sticker says what it is.
      else if (attachment.kind !== "sticker" || lines.join("") === "") lines.push(describe(attachment));
    }
    const said = lines.filter((line) => line !== "").join("\n");
    const block = label === undefined ? said : `${label}: ${said.replaceAll(LINE_BREAK, "\n  ")}`;
    if (block !== "") text += text === "" ? block : `\n${block}`;
    parts.push(...files);
  }
  return [{ type: "text", text }, ...parts];
}

function textOf({ action, message }: MessengerEvent): string {
  return action === undefined
    ? quoted(message?.quoted) + (message?.text ?? "").trim()
    : `[Button pressed: ${action.data}]`;
}

/**
 * Who speaks, in front of a message of a group. In a private chat there is nobody else. Further lines of a message are
 * indented, and a label has neither line breaks nor, unless the bot made it, colons: so that a line at the margin which
 * begins with a name and a colon is never something that somebody wrote.
 */
function speakerLabel(event: MessengerEvent, settings: MediaSettings, log: Log): string | undefined {
  const { author } = event;
  if (event.thread.isDirectMessage || author === undefined || settings.channelSpeakerLabel === false)
    return undefined;
  if (typeof settings.channelSpeakerLabel === "function") {
    try {
      return inOneLine(settings.channelSpeakerLabel(author));
    } catch (error) {
      // It threw, or returned no text. The message is answered all the same, under the usual name.
      logBotFailure(log.with(eventFields(event.messengerId, event)), "channelSpeakerLabel", error);
    }
  }
  const name = inOneLine(nameOf(author)).replaceAll(/\s*[:：]\s*/g, " ");
  return clip(name.trim()) || author.userId;
}

/** Without line breaks, other control characters, and those that turn the direction of writing. */
function inOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+/gu, " ").trim();
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

/** A document whose type nobody named, and whose name says nothing either: `README`, `Makefile`, `.gitignore`. */
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

/** Media types are the same in any letter case, and people's programs write them in any. */
function isAccepted(mediaType: string, accepted: readonly string[]): boolean {
  const type = mediaType.toLowerCase();
  return accepted.some((each) => {
    const pattern = each.toLowerCase();
    if (pattern === "*" || pattern === "*/*") return true;
    return pattern.endsWith("/*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
  });
}

/** Whether a file is read as text instead of handed to the model as a file. */
export function isTextFile(mediaType: string | undefined, name: string | undefined): boolean {
  if (mediaType !== undefined && TEXT_FILE.test(mediaType)) return true;
  return isUntyped(mediaType) && TEXT_FILE_NAME.test(name ?? "");
}

/** A line for a file that the model does not get. */
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
  /** Absent in transcripts from before this was stored. */
  readonly kind?: MessengerAttachment["kind"];
  /** The model gets what is said in it, as the bot's `transcribe` says, in place of its bytes. */
  readonly isTranscribed?: true;
  readonly sizeBytes?: number;
}

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

/** The reference that a file part of the transcript holds; `undefined` for a URL of any other kind. */
export function parseStoredFile(url: string): StoredFile | undefined {
  if (!url.startsWith(REFERENCE_SCHEME)) return undefined;
  return JSON.parse(decodeURIComponent(url.slice(REFERENCE_SCHEME.length))) as StoredFile;
}
