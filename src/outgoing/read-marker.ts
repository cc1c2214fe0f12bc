import {
  assignedTagMeaning,
  dsmlMeaning,
  LITERAL_MARKERS,
  LITERAL_PREFIXES,
  NAME_PREFIXES,
  oneBarMeaning,
  tagMeaning,
  tokenMeaning,
} from "./artefacts.ts";
import type { MarkerForm, Meaning } from "./artefacts.ts";

/** Longest marker, in UTF-16 units. Text that does not end within it is ordinary. */
export const MAX_MARKER_LENGTH = 256;

export interface Marker {
  /** In UTF-16 units. */
  readonly length: number;
  readonly meaning: Meaning;
}

/** The marker found, if any. `"partial"`: the text ends before that is clear. */
export type MarkerReading = Marker | "partial" | undefined;

/** True for a character that can begin a marker. */
export function mayBeginMarker(char: string): boolean {
  return char === "<" || char === "[" || char === "◁";
}

/** Reads the marker at `start`. The answer depends on at most `MAX_MARKER_LENGTH` characters from there. */
export function readMarker(text: string, start: number): MarkerReading {
  const isCut = text.length - start < MAX_MARKER_LENGTH;
  const reading =
    text[start] === "<" ? readAngle(text.slice(start, start + MAX_MARKER_LENGTH)) : readLiteral(text, start);
  return reading === "partial" && !isCut ? undefined : reading;
}

function readLiteral(text: string, start: number): MarkerReading {
  for (let end = start + 1; end <= text.length; end++) {
    const word = text.slice(start, end);
    if (!LITERAL_PREFIXES.has(word)) return undefined;
    const meaning = LITERAL_MARKERS.get(word);
    if (meaning !== undefined) return { length: word.length, meaning };
  }
  return "partial";
}

const NAME = /[\w:-]*/y;
const BARS = /[|｜‖]+/y;
const TOKEN = /[\w▁/.:-]+/y;
const ATTRIBUTES =
  /(?:[ \t]+[a-z_:][\w:.-]*[ \t]*=[ \t]*(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'<>=]+))*[ \t]*(\/?)>/iy;
const ATTRIBUTES_SO_FAR =
  /(?:[ \t]+[a-z_:][\w:.-]*[ \t]*=[ \t]*(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'<>=]+))*(?:[ \t]*\/?|[ \t]+[a-z_:][\w:.-]*[ \t]*(?:=[ \t]*(?:"[^"<>\n]*|'[^'<>\n]*)?)?)$/iy;
const ASSIGNED = /=[^\s<>]+>/y;
const ASSIGNED_SO_FAR = /=[^\s<>]*$/y;

/**
 * Reads a marker that begins with `<`.
 * @param text begins with `<` and has at most `MAX_MARKER_LENGTH` characters
 */
function readAngle(text: string): MarkerReading {
  const isClosing = text[1] === "/";
  const afterSlash = isClosing ? 2 : 1;
  if (afterSlash >= text.length) return "partial";
  const afterBars = end(BARS, text, afterSlash);
  return afterBars === undefined
    ? readTag(text, afterSlash, isClosing)
    : readToken(text, afterBars, isClosing);
}

function readTag(text: string, nameStart: number, isClosing: boolean): MarkerReading {
  const nameEnd = end(NAME, text, nameStart) ?? nameStart;
  const name = text.slice(nameStart, nameEnd).toLowerCase();
  if (!NAME_PREFIXES.has(name)) return undefined;
  if (nameEnd === text.length) return "partial";
  if (text[nameEnd] === "|") return isClosing ? undefined : readOneBarClosing(text, nameEnd, name);
  if (text[nameEnd] === "=" && assignedTagMeaning(name) !== undefined) {
    const assignedEnd = end(ASSIGNED, text, nameEnd);
    if (assignedEnd !== undefined) return marker(assignedEnd, assignedTagMeaning(name));
    return end(ASSIGNED_SO_FAR, text, nameEnd) === undefined ? undefined : "partial";
  }
  if (tagMeaning(name, isClosing ? "close" : "open") === undefined) return undefined;
  return readAttributes(text, nameEnd, isClosing, (form) => tagMeaning(name, form));
}

function readOneBarClosing(text: string, nameEnd: number, name: string): MarkerReading {
  const meaning = oneBarMeaning(name, "close");
  if (meaning === undefined) return undefined;
  if (nameEnd + 1 === text.length) return "partial";
  return text[nameEnd + 1] === ">" ? marker(nameEnd + 2, meaning) : undefined;
}

function readToken(text: string, nameStart: number, isClosing: boolean): MarkerReading {
  if (nameStart === text.length) return "partial";
  const nameEnd = end(TOKEN, text, nameStart);
  if (nameEnd === undefined) return undefined;
  if (nameEnd === text.length) return "partial";
  const name = text.slice(nameStart, nameEnd);
  if (text[nameEnd] === ">") return isClosing ? undefined : marker(nameEnd + 1, oneBarMeaning(name, "open"));
  const afterBars = end(BARS, text, nameEnd);
  if (afterBars === undefined) return undefined;
  if (afterBars === text.length) return "partial";
  if (text[afterBars] === ">") return marker(afterBars + 1, tokenMeaning(isClosing ? `/${name}` : name));
  if (name.toUpperCase() !== "DSML") return undefined;
  const tagEnd = end(TOKEN, text, afterBars);
  if (tagEnd === undefined) return undefined;
  if (tagEnd === text.length) return "partial";
  const tag = text.slice(afterBars, tagEnd).toLowerCase();
  return readAttributes(text, tagEnd, isClosing, (form) => dsmlMeaning(tag, form));
}

function readAttributes(
  text: string,
  start: number,
  isClosing: boolean,
  meaningOf: (form: MarkerForm) => Meaning | undefined,
): MarkerReading {
  ATTRIBUTES.lastIndex = start;
  const match = ATTRIBUTES.exec(text);
  if (match !== null) {
    const form = isClosing ? "close" : match[1] === "/" ? "self-closing" : "open";
    return marker(ATTRIBUTES.lastIndex, meaningOf(form));
  }
  return end(ATTRIBUTES_SO_FAR, text, start) === undefined ? undefined : "partial";
}

function marker(length: number, meaning: Meaning | undefined): Marker | undefined {
  return meaning === undefined ? undefined : { length, meaning };
}

/** End of a sticky pattern's match. Undefined if it does not match, or matches an empty text. */
function end(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) && pattern.lastIndex > start ? pattern.lastIndex : undefined;
}
