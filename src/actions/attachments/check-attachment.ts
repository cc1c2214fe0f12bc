import { checkContent } from "../../core/message/check-content.ts";
import { closestName } from "../../core/text/closest-name.ts";
import type { Content, Json } from "../../core/message/content.ts";
import { InvalidInputError } from "../../core/base/errors.ts";
import { FILE_KINDS } from "../../core/message/reply-attachment.ts";

/** An address of a file that a chat may show as a link. */
export const WEB_ADDRESS = /^https?:\/\/\S+$/i;

/**
 * Checks an attachment of a type that every chat can show, before a person misses it. Its bytes are stored later. A card
 * without a text is one of the bot's own: see `AllowedFields`.
 *
 * @throws {InvalidInputError} `attachment-invalid`, or a code of `checkContent` for a card and a place
 */
export function checkAttachment({
  type,
  ...fields
}: {
  readonly type: string;
  readonly [field: string]: Json;
}): void {
  const isCard = type === "card" && "text" in fields;
  if (isCard || type === "location") checkContent({ ...fields, kind: type } as unknown as Content);
  if (!Object.hasOwn(FILE_KINDS, type)) return;
  const { source } = fields;
  if (source === undefined) throw invalid(type, missing(Object.keys(fields)));
  const isObject = typeof source === "object" && source !== null && !Array.isArray(source);
  if (!isObject || !("storedId" in source || "fileId" in source || "url" in source))
    throw invalid(type, "Its source must be bytes, { fileId } or { url }.");
  const { url } = source;
  if (url !== undefined && (typeof url !== "string" || !WEB_ADDRESS.test(url)))
    throw invalid(type, `Its url must begin with https://, http:// or data:${schemeOf(url)}.`);
}

function missing(names: readonly string[]): string {
  const misspelt = names.find((name) => closestName(name, ["source"]) !== undefined);
  return misspelt === undefined
    ? "It has no source."
    : `"${misspelt}" does not exist. Did you mean "source"?`;
}

/** Names no more of an address than its scheme, because the rest may be secret. */
function schemeOf(url: Json): string {
  const [, scheme] = /^([a-z][a-z\d+.-]{0,20}):/i.exec(typeof url === "string" ? url : "") ?? [];
  return scheme === undefined ? "" : `, not ${scheme.toLowerCase()}:`;
}

function invalid(type: string, problem: string): InvalidInputError {
  return new InvalidInputError(
    "attachment-invalid",
    `The attachment of the type "${type}" cannot be shown. ${problem}`,
  );
}
