import type { Json, StoredFile } from "../core/content.ts";
import { SwitchboardError } from "../core/errors.ts";
import type { ByteSource, ReplyAttachment } from "../core/reply-attachment.ts";
import { toJson } from "./normalize-output.ts";

/** Most attachments of one turn. */
export const MOST_ATTACHMENTS = 32;
/** Longest attachment as JSON, without its bytes. */
const MOST_CHARACTERS = 128 * 1024;

/** An attachment whose bytes are not stored yet. */
export interface AttachmentDraft {
  /** Refers to the `file` of each of `sources`, which is filled in when its bytes are stored. */
  readonly json: Json;
  readonly sources: readonly { readonly file: Mutable<StoredFile>; readonly source: ByteSource }[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * The attachments of one run, while its `execute` works. `add` never throws: the work may have had its effect already,
 * and a failure would make it run again.
 */
export class CollectedAttachments {
  readonly #drafts: AttachmentDraft[] = [];
  readonly #most: number;
  readonly #onRefused: (error: unknown) => void;
  #isClosed = false;

  constructor(most: number, onRefused: (error: unknown) => void) {
    this.#most = most;
    this.#onRefused = onRefused;
  }

  /** Takes a copy of an attachment. Ignored after `close`. */
  add(attachment: ReplyAttachment): void {
    if (this.#isClosed) return;
    try {
      this.#drafts.push(this.#draftOf(attachment));
    } catch (error) {
      this.#onRefused(error);
    }
  }

  close(): readonly AttachmentDraft[] {
    this.#isClosed = true;
    return this.#drafts;
  }

  #draftOf(attachment: ReplyAttachment): AttachmentDraft {
    if (this.#drafts.length >= this.#most)
      throw new SwitchboardError(
        "attachments-too-many",
        `A turn has at most ${MOST_ATTACHMENTS} attachments. This one is left out.`,
      );
    const sources: { file: Mutable<StoredFile>; source: ByteSource }[] = [];
    const json = toJson(attachment, (value) => {
      if (!isByteSource(value)) return undefined;
      const file = { storedId: "", sizeBytes: 0 };
      sources.push({ file, source: value instanceof ArrayBuffer ? new Uint8Array(value) : value });
      return file;
    });
    if (!hasType(json))
      throw new SwitchboardError(
        "attachment-type",
        "An attachment is an object with a type. It is left out.",
      );
    if (JSON.stringify(json).length > MOST_CHARACTERS)
      throw new SwitchboardError(
        "attachment-too-large",
        `An attachment has at most ${MOST_CHARACTERS} characters beside its bytes. This one is left out.`,
      );
    return { json, sources };
  }
}

function isByteSource(value: object): value is ByteSource | ArrayBuffer {
  return (
    value instanceof Uint8Array ||
    value instanceof ArrayBuffer ||
    value instanceof Blob ||
    value instanceof ReadableStream
  );
}

function hasType(json: Json): boolean {
  return (
    typeof json === "object" &&
    json !== null &&
    "type" in json &&
    typeof json.type === "string" &&
    json.type !== ""
  );
}
