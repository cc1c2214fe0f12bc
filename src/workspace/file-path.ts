import { InvalidInputError } from "../core/base/errors.ts";

/** Longest path, in bytes of UTF-8. */
const LONGEST_PATH = 512;
/** Longest name of a file or folder, in bytes of UTF-8. */
const LONGEST_NAME = 255;
const DEEPEST = 32;

/** Control characters, and marks that turn the direction of a text or cannot be seen: a name must show what it is. */
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/**
 * Returns the one form of a path: absolute, in the Unicode form NFC, without empty parts and without a slash at its end.
 * The folder of everything is `/`.
 *
 * @throws {InvalidInputError} `workspace-path`
 */
export function parsePath(path: string): string {
  if (typeof path !== "string" || !path.startsWith("/"))
    throw wrong("is not absolute. Begin it with a slash, as in /notes/plan.md");
  if (!path.isWellFormed() || UNSEEN.test(path) || path.includes("\\"))
    throw wrong(
      "has a backslash, or a character that cannot be seen. Use letters, digits, blanks, and . - _",
    );
  const names = path
    .normalize("NFC")
    .split("/")
    .filter((name) => name !== "");
  if (names.some((name) => name === "." || name === ".."))
    throw wrong('has a part "." or "..". Write the whole path');
  if (names.some((name) => name !== name.trim())) throw wrong("has a name that begins or ends with a blank");
  const parsed = `/${names.join("/")}`;
  if (names.some((name) => sizeOf(name) > LONGEST_NAME) || sizeOf(parsed) > LONGEST_PATH)
    throw wrong(`is too long. It has at most ${LONGEST_PATH} bytes, and each name in it ${LONGEST_NAME}`);
  if (names.length > DEEPEST) throw wrong(`has more than ${DEEPEST} parts`);
  return parsed;
}

/**
 * Returns the path of a file.
 *
 * @throws {InvalidInputError} `workspace-path`
 */
export function parseFilePath(path: string): string {
  const parsed = parsePath(path);
  if (parsed !== "/") return parsed;
  throw wrong("is the folder of everything, and no file");
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the beginning of all paths in a folder. */
export function insideOf(folder: string): string {
  return folder === "/" ? "/" : `${folder}/`;
}

/** Returns the folders that a path lies in, without the one of everything. */
export function foldersOf(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_name, index) => `/${names.slice(0, index + 1).join("/")}`);
}

const EXTENSION = /\.[A-Za-z0-9]{1,8}$/;
const LONGEST_SENT_NAME = 120;

/** Returns a name that a file may have, close to one that somebody gave to it. */
export function safeName(given: string, otherwise: string): string {
  const shown = Array.from(given.toWellFormed().normalize("NFC"))
    .map((character) => (UNSEEN.test(character) || /[/\\]/.test(character) ? "_" : character))
    .join("")
    .trim();
  const extension = EXTENSION.exec(shown)?.[0] ?? "";
  let stem = shown.slice(0, shown.length - extension.length).trim();
  while (sizeOf(stem) > LONGEST_SENT_NAME) stem = Array.from(stem).slice(0, -1).join("").trim();
  return /^\.*$/.test(stem) ? `${otherwise}${extension}` : `${stem}${extension}`;
}

/** Returns the name with a number in front of its extension. */
export function numbered(name: string, number: number): string {
  const extension = EXTENSION.exec(name)?.[0] ?? "";
  return `${name.slice(0, name.length - extension.length)}-${number}${extension}`;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function wrong(problem: string): InvalidInputError {
  return new InvalidInputError("workspace-path", `The path ${problem}.`);
}
