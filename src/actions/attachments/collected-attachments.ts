import type { Json, StoredFile } from "../../core/message/content.ts";
import { checkAttachment } from "./check-attachment.ts";
import { failureCode, SwitchboardError } from "../../core/base/errors.ts";
import { FILE_KINDS } from "../../core/message/reply-attachment.ts";
import type { ByteSource, ReplyAttachment } from "../../core/message/reply-attachment.ts";
import { checkAddress, unsentAttachment } from "./unsent-attachment.ts";
import type { LostBytes, UnsentAttachment } from "./unsent-attachment.ts";
import { toJson } from "../declare/normalize-output.ts";

/** Most attachments of one turn. */
export const MOST_ATTACHMENTS = 32;
/** Longest attachment as JSON, without its bytes. */
const MOST_CHARACTERS = 128 * 1024;

/** An attachment whose bytes are not stored yet. */
export interface AttachmentDraft {
  /** Refers to the `file` of each of `sources`, which is filled in when its bytes are stored. */
  readonly json: AttachmentJson;
  readonly sources: readonly {
    readonly file: Mutable<StoredFile> & LostBytes;
    readonly source: ByteSource;
  }[];
}

type AttachmentJson = { readonly type: string; readonly [field: string]: Json };
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Everything that one run has attached, or could not attach. */
export interface Collected {
  readonly drafts: readonly AttachmentDraft[];
  /** Attachments that will not be sent. */
  readonly unsent: readonly UnsentAttachment[];
}

/**
 * The attachments of one run, while its `execute` works. `add` never throws: the work may have had its effect already,
 * and a failure would make it run again.
 */
export class CollectedAttachments {
  readonly #drafts: AttachmentDraft[] = [];
  readonly #most: number;
  readonly #onRefused: (error: unknown) => void;
  readonly #unsent: UnsentAttachment[] = [];
  #isClosed = false;

  constructor(most: number, onRefused: (error: unknown) => void) {
    this.#most = most;
    this.#onRefused = onRefused;
  }

  /** Takes a copy of an attachment. Ignored after `close`. */
  add(attachment: ReplyAttachment): void {
    if (this.#isClosed) return;
    try {
      this.#take(this.#draftOf(attachment));
    } catch (error) {
      this.#unsent.push(unsentAttachment(attachment, error));
      this.#onRefused(error);
    }
  }

  close(): Collected {
    this.#isClosed = true;
    return { drafts: this.#drafts, unsent: this.#unsent };
  }

  /** Takes a file that cannot be sent, too: people read its name and the reason. */
  #take(draft: AttachmentDraft): void {
    const { json } = draft;
    try {
      checkAttachment(json);
    } catch (error) {
      if (Object.hasOwn(FILE_KINDS, json.type)) {
        const source = { unsent: failureCode(error) };
        this.#drafts.push({ json: { ...json, source }, sources: [] });
      }
      throw error;
    }
    this.#drafts.push(draft);
    checkAddress(json);
  }

  #draftOf(attachment: ReplyAttachment): AttachmentDraft {
    if (this.#drafts.length >= this.#most)
      throw new SwitchboardError(
        "attachments-too-many",
        `A turn has at most ${MOST_ATTACHMENTS} attachments. This one is left out.`,
      );
    const sources: { file: Mutable<StoredFile> & LostBytes; source: ByteSource }[] = [];
    const json = toJson(attachment, (value) => {
      const source = bytesIn(value);
      if (source === undefined) return undefined;
      const file = { storedId: "", sizeBytes: 0 };
      sources.push({ file, source });
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

/** Returns the bytes that a value of an attachment stands for. Undefined if it is something else. */
function bytesIn(value: object): ByteSource | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  const isBytes = value instanceof Uint8Array || value instanceof Blob || value instanceof ReadableStream;
  if (isBytes) return value;
  return "url" in value && typeof value.url === "string" ? bytesOfDataUrl(value.url) : undefined;
}

function hasType(json: Json): json is AttachmentJson {
  return (
    typeof json === "object" &&
    json !== null &&
    "type" in json &&
    typeof json.type === "string" &&
    json.type !== ""
  );
}

/** Returns the bytes of a `data:` address. Undefined if it is another one, or malformed. */
function bytesOfDataUrl(url: string): Uint8Array | undefined {
  const [, base64, text = ""] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(url) ?? [];
  if (!/^data:/i.test(url)) return undefined;
  try {
    const decoded = decodeURIComponent(text);
    return base64 === undefined
      ? new TextEncoder().encode(decoded)
      : Uint8Array.from(atob(decoded), (character) => character.charCodeAt(0));
  } catch {
    // The text is no Base64, or has a broken escape.
    return undefined;
  }
}
