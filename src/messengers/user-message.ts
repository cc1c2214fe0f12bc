import type { UIMessage } from "ai";
import type {
  AttachmentReference,
  MessengerAttachment,
  MessengerAuthor,
  MessengerEvent,
} from "../core/messenger-event.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";

type UserParts = UIMessage["parts"];
type MediaSettings = Pick<
  NormalizedMessengerDefinition,
  "acceptsMedia" | "maxMediaBytes" | "channelSpeakerLabel"
>;

/** Longest text of a quoted message that the model gets, in characters. */
const MAX_QUOTE_LENGTH = 1000;
/** Longest text file that is read into the conversation, in bytes. */
const MAX_TEXT_FILE_BYTES = 200_000;
const REFERENCE_SCHEME = "switchboard-attachment:";
const TEXT_FILE = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson)\b)/;
const TEXT_FILE_NAME =
  /\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|log|ini|conf|py|js|ts|tsx|jsx|sh|sql|go|rs|java|c|h|cpp)$/i;

/** The parts of one user message that says what several chat messages said, in their order. */
export function userParts(
  events: readonly MessengerEvent[],
  settingsOf: (messengerId: string) => MediaSettings,
): UserParts {
  const parts: UserParts = [];
  let text = "";
  for (const event of events) {
    const settings = settingsOf(event.messengerId);
    const lines = [textOf(event, settings)];
    const files: UserParts = [];
    const attachments = [
      ...(event.message?.attachments ?? []),
      ...(event.message?.quoted?.attachments ?? []),
    ];
    for (const attachment of attachments) {
      if (isRead(attachment, settings)) files.push(filePart(event.messengerId, attachment));
      else lines.push(describe(attachment));
    }
    const block = lines.filter((line) => line !== "").join("\n");
    if (block !== "") text += text === "" ? block : `\n${block}`;
    parts.push(...files);
  }
  return [{ type: "text", text }, ...parts];
}

function textOf(event: MessengerEvent, settings: MediaSettings): string {
  const { action, message } = event;
  const said =
    action === undefined ? quoted(event) + (message?.text ?? "").trim() : `[Button pressed: ${action.data}]`;
  const label = speakerLabel(event, settings);
  return label === undefined ? said : `${label}: ${said}`;
}

/** Who speaks, in front of a message of a group. In a private chat there is nobody else. */
function speakerLabel(event: MessengerEvent, settings: MediaSettings): string | undefined {
  const { author } = event;
  if (event.thread.isDirectMessage || author === undefined || settings.channelSpeakerLabel === false)
    return undefined;
  return typeof settings.channelSpeakerLabel === "function"
    ? settings.channelSpeakerLabel(author)
    : nameOf(author);
}

function nameOf(author: MessengerAuthor): string {
  return author.fullName || author.userName || author.userId;
}

function quoted(event: MessengerEvent): string {
  const quote = event.message?.quoted;
  if (quote === undefined || quote.text === "") return "";
  const whose = quote.isFromBot
    ? "your message"
    : quote.author === undefined
      ? "a message"
      : `${nameOf(quote.author)}'s message`;
  const text =
    quote.text.length > MAX_QUOTE_LENGTH ? `${quote.text.slice(0, MAX_QUOTE_LENGTH)}…` : quote.text;
  return `[In reply to ${whose}: "${text}"]\n`;
}

function isRead(attachment: MessengerAttachment, settings: MediaSettings): boolean {
  const size = attachment.sizeBytes ?? 0;
  if (isTextFile(attachment.mediaType, attachment.name))
    return size <= Math.min(settings.maxMediaBytes, MAX_TEXT_FILE_BYTES);
  const mediaType = attachment.mediaType;
  return (
    mediaType !== undefined && size <= settings.maxMediaBytes && isAccepted(mediaType, settings.acceptsMedia)
  );
}

function isAccepted(mediaType: string, accepted: readonly string[]): boolean {
  return accepted.some((pattern) =>
    pattern.endsWith("/*")
      ? mediaType.startsWith(pattern.slice(0, -1))
      : pattern === "*" || pattern === mediaType,
  );
}

/** Whether a file is read as text instead of handed to the model as a file. */
export function isTextFile(mediaType: string | undefined, name: string | undefined): boolean {
  if (mediaType !== undefined && TEXT_FILE.test(mediaType)) return true;
  return (
    (mediaType === undefined || mediaType === "application/octet-stream") && TEXT_FILE_NAME.test(name ?? "")
  );
}

/** A line for a file that the model does not get. */
export function describe(
  attachment: Pick<MessengerAttachment, "kind" | "name" | "mediaType" | "sizeBytes">,
): string {
  const details = [
    attachment.name,
    attachment.mediaType,
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
}

function filePart(messengerId: string, attachment: MessengerAttachment): UserParts[number] {
  const stored: StoredFile = { messengerId, reference: attachment.reference };
  return {
    type: "file",
    mediaType: attachment.mediaType ?? "application/octet-stream",
    url: REFERENCE_SCHEME + encodeURIComponent(JSON.stringify(stored)),
    ...(attachment.name !== undefined && { filename: attachment.name }),
  };
}

/** The reference that a file part of the transcript holds; `undefined` for a URL of any other kind. */
export function parseStoredFile(url: string): StoredFile | undefined {
  if (!url.startsWith(REFERENCE_SCHEME)) return undefined;
  return JSON.parse(decodeURIComponent(url.slice(REFERENCE_SCHEME.length))) as StoredFile;
}
