import type {
  CardButton,
  CardContent,
  CardField,
  Content,
  CardImage,
  PictureBytes,
  FileKind,
  FilesContent,
  LocationContent,
} from "./content.ts";
import { InvalidInputError } from "../base/errors.ts";

const MAX_ALBUM = 10;
const MAX_CAPTION = 100_000;
/** Kinds of files that an album may combine. Any other file is sent alone. */
const TOGETHER: readonly (readonly FileKind[])[] = [["photo", "video"], ["document"], ["audio"]];
const KINDS: readonly unknown[] = ["photo", "document", "audio", "voice", "video", "animation"];

const MAX_BUTTONS = 100;
const MAX_ROW = 8;
const MAX_FIELDS = 50;
const MAX_LABEL = 64;
const MAX_FIELD_LABEL = 256;
const MAX_FIELD_VALUE = 1_024;
const MAX_COPY_TEXT = 256;
const MAX_PAYLOAD_BYTES = 8 * 1024;
const MAX_TEXT = 100_000;
const LINK = /^(?:https?:\/\/|tg:\/\/)\S+$/i;

/**
 * Checks content that bot code wants to send. A string is returned as a `TextContent`.
 *
 * @throws {InvalidInputError} `content-invalid`, `card-invalid`, `button-invalid`, `payload-not-json` or
 *   `payload-too-large`, `files-invalid`, `location-invalid`
 */
export function checkContent(content: Content): Exclude<Content, string> {
  if (typeof content === "string") return checkContent({ kind: "text", text: content });
  switch (content?.kind) {
    case "text":
      checkText(content.text, "content-invalid");
      return content;
    case "card":
      checkCard(content);
      return content;
    case "files":
      checkFiles(content);
      return content;
    case "location":
      checkLocation(content);
      return content;
    default:
      throw new InvalidInputError(
        "content-invalid",
        'Content is a string, { kind: "text", text }, { kind: "card", text, buttons }, { kind: "files", files } or { kind: "location", latitude, longitude }.',
      );
  }
}

function checkText(text: unknown, code: string): void {
  if (typeof text !== "string" || text.trim() === "")
    throw new InvalidInputError(code, "The text must be a string with at least one visible character.");
  if (text.length > MAX_TEXT)
    throw new InvalidInputError(code, `The text has ${text.length} characters. The most is ${MAX_TEXT}.`);
}

function checkCard({ buttons = [], fields = [], image, text }: CardContent): void {
  if (fields.length === 0) checkText(text, "card-invalid");
  else if (typeof text !== "string") throw invalidCard("text must be a string");
  if (fields.length > MAX_FIELDS) throw invalidCard(`it has more than ${MAX_FIELDS} fields`);
  for (const field of fields) checkField(field);
  if (image !== undefined) checkImage(image);
  const all = buttons.flat();
  if (all.length > MAX_BUTTONS) throw invalidCard(`it has ${all.length} buttons, the most is ${MAX_BUTTONS}`);
  if (buttons.some((row) => row.length > MAX_ROW))
    throw invalidCard(`a row has more than ${MAX_ROW} buttons`);
  for (const button of all) checkButton(button);
}

function checkField({ label, value }: CardField): void {
  if (!isPlain(label, 1, MAX_FIELD_LABEL))
    throw invalidCard(`the label of a field must have 1 to ${MAX_FIELD_LABEL} characters`);
  if (!isPlain(value, 0, MAX_FIELD_VALUE))
    throw invalidCard(`the value of a field must be a string of at most ${MAX_FIELD_VALUE} characters`);
}

function checkImage(image: CardImage): void {
  if (isBytes(image)) return;
  const isFileId = "fileId" in image && isPlain(image.fileId, 1, 512);
  const isLink = "url" in image && typeof image.url === "string" && /^https:\/\/\S+$/i.test(image.url);
  if (!isFileId && !isLink)
    throw invalidCard("its image must be bytes, { fileId } or { url } with an https address");
}

/** Whether content has bytes, which must be durable before it can be sent. */
export function hasBytes(content: Exclude<Content, string>): boolean {
  if (content.kind === "files") return true;
  return content.kind === "card" && content.image !== undefined && isBytes(content.image);
}

/** Whether a picture is given by its bytes. */
export function isBytes(image: CardImage): image is PictureBytes {
  return image instanceof Uint8Array || image instanceof Blob || "storedId" in image;
}

function checkButton(button: CardButton): void {
  if (!isPlain(button.label, 1, MAX_LABEL) || button.label.trim() === "")
    throw invalidButton(`a label must have 1 to ${MAX_LABEL} characters`);
  switch (button.kind) {
    case "callback":
      checkPayload(button.payload, button.label);
      return;
    case "link":
      if (typeof button.url !== "string" || !LINK.test(button.url))
        throw invalidButton("the address of a link must begin with https://, http:// or tg://");
      return;
    case "copy":
      if (!isPlain(button.text, 1, MAX_COPY_TEXT))
        throw invalidButton(`the text to copy must have 1 to ${MAX_COPY_TEXT} characters`);
      return;
    default:
      throw invalidButton('the kind of a button is "callback", "link" or "copy"');
  }
}

function checkPayload(payload: unknown, label: string): void {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch {
    // It refers to itself, or has a bigint.
    json = undefined;
  }
  if (json === undefined || !isEqual(payload, JSON.parse(json)))
    throw new InvalidInputError(
      "payload-not-json",
      `The payload of the button "${label}" is not JSON. Use strings, finite numbers, booleans, null, lists and plain objects.`,
    );
  const bytes = new TextEncoder().encode(json).length;
  if (bytes > MAX_PAYLOAD_BYTES)
    throw new InvalidInputError(
      "payload-too-large",
      `The payload of the button "${label}" has ${bytes} bytes as JSON. The most is ${MAX_PAYLOAD_BYTES}: store the rest and send its id.`,
    );
}

/** Whether a value survives the way to JSON and back unchanged. */
function isEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || left === null) return Object.is(left, right) || (left === 0 && right === 0);
  if (typeof right !== "object" || right === null || Array.isArray(left) !== Array.isArray(right))
    return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  const before = left as Readonly<Record<string, unknown>>;
  const after = right as Readonly<Record<string, unknown>>;
  return names.every((name) => isEqual(before[name], after[name]));
}

function isPlain(text: unknown, least: number, most: number): text is string {
  return typeof text === "string" && text.length >= least && text.length <= most;
}

function invalidCard(what: string): InvalidInputError {
  return new InvalidInputError("card-invalid", `The card cannot be sent: ${what}.`);
}

function invalidButton(what: string): InvalidInputError {
  return new InvalidInputError("button-invalid", `The card cannot be sent: ${what}.`);
}

/**
 * Checks files that bot code wants to send. Their sources are checked when they are read.
 *
 * @throws {InvalidInputError} `files-invalid`
 */
function checkFiles({ caption, files }: FilesContent): void {
  if (!Array.isArray(files) || files.length === 0 || files.length > MAX_ALBUM)
    throw invalid(`there must be 1 to ${MAX_ALBUM} of them`);
  if (caption !== undefined && (typeof caption !== "string" || caption.length > MAX_CAPTION))
    throw invalid(`the caption must be a string of at most ${MAX_CAPTION} characters`);
  const kinds = new Set(files.map(({ kind }) => kind));
  for (const kind of kinds) {
    if (!KINDS.includes(kind)) throw invalid(`the kind of a file is ${KINDS.join(", ")}`);
  }
  if (files.length > 1 && !TOGETHER.some((group) => [...kinds].every((kind) => group.includes(kind))))
    throw invalid(
      `an album of ${[...kinds].join(", ")} does not exist. An album has photos and videos, or documents, or audio`,
    );
}

/** @throws {InvalidInputError} `location-invalid` */
function checkLocation({ address, latitude, longitude, title }: LocationContent): void {
  const isOnEarth = isWithin(latitude, 90) && isWithin(longitude, 180);
  const words = [title, address].filter((word) => word !== undefined);
  const areWords = words.every((word) => typeof word === "string" && word !== "" && word.length <= 256);
  if (isOnEarth && areWords) return;
  throw new InvalidInputError(
    "location-invalid",
    "A location has a latitude of -90 to 90, a longitude of -180 to 180, and maybe a title and an address of 1 to 256 characters.",
  );
}

function isWithin(degrees: unknown, limit: number): boolean {
  return typeof degrees === "number" && Number.isFinite(degrees) && Math.abs(degrees) <= limit;
}

function invalid(what: string): InvalidInputError {
  return new InvalidInputError("files-invalid", `The files cannot be sent: ${what}.`);
}
