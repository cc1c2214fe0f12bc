import type { Json } from "../../core/message/content.ts";
import { failureCode, SwitchboardError } from "../../core/base/errors.ts";
import { parsePublicUrl } from "../../core/web/public-url.ts";
import { FILE_KINDS } from "../../core/message/reply-attachment.ts";
import type { StoredAttachment } from "../../core/message/reply-attachment.ts";

/** An attachment that will not be sent, as the model learns it. */
export interface UnsentAttachment {
  /** Name of the file, or the type of the attachment. */
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

export function unsentAttachment(json: unknown, error: unknown): UnsentAttachment {
  const message = error instanceof SwitchboardError ? error.message : "It could not be stored.";
  return { name: nameOf(json), code: failureCode(error), message };
}

/** Marks the bytes of an attachment as lost, so that people read its name in their place. */
export interface LostBytes {
  unsent?: string;
}

/** Returns the code of an attachment whose bytes could not be stored. */
export function unsentCode({ source }: StoredAttachment): string | undefined {
  if (typeof source !== "object" || source === null || !("unsent" in source)) return undefined;
  return typeof source.unsent === "string" ? source.unsent : undefined;
}

/**
 * Checks the address of a file, without fetching it.
 *
 * @throws {InvalidInputError} `file-address`
 */
export function checkAddress(json: Json): void {
  const { source, type } = json as { readonly source?: Json; readonly type?: Json };
  if (typeof type !== "string" || !Object.hasOwn(FILE_KINDS, type)) return;
  if (typeof source !== "object" || source === null || !("url" in source)) return;
  const url = typeof source.url === "string" ? source.url : "";
  parsePublicUrl(url, undefined, { code: "file-address", owner: "A file's" });
}

/** Adds the attachments that will not be sent to the output of an action, so that the model does not promise them. */
export function withUnsent(output: Json, unsent: readonly UnsentAttachment[]): Json {
  if (unsent.length === 0) return output;
  const attachmentsNotSent = unsent.map((one) => ({ ...one }));
  return isRecord(output) ? { ...output, attachmentsNotSent } : { result: output, attachmentsNotSent };
}

function nameOf(json: unknown): string {
  if (typeof json !== "object" || json === null) return "attachment";
  const { name, type } = json as { readonly name?: unknown; readonly type?: unknown };
  if (typeof name === "string" && name !== "") return name;
  return typeof type === "string" && type !== "" ? type : "attachment";
}

function isRecord(json: Json): json is { readonly [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
