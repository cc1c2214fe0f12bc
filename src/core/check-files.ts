import type { FileKind, FilesContent, LocationContent } from "./content.ts";
import { InvalidInputError } from "./errors.ts";

const MAX_ALBUM = 10;
const MAX_CAPTION = 100_000;
/** Kinds of files that an album may combine. Any other file is sent alone. */
const TOGETHER: readonly (readonly FileKind[])[] = [["photo", "video"], ["document"], ["audio"]];
const KINDS: readonly unknown[] = ["photo", "document", "audio", "voice", "video", "animation"];

/**
 * Checks files that bot code wants to send. Their sources are checked when they are read.
 *
 * @throws {InvalidInputError} `files-invalid`
 */
export function checkFiles({ caption, files }: FilesContent): void {
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
export function checkLocation({ address, latitude, longitude, title }: LocationContent): void {
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
