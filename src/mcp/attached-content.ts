import { unsentCode } from "../actions/attachments/unsent-attachment.ts";
import { toBase64 } from "../core/bytes/base64.ts";
import type { FileKind } from "../core/message/content.ts";
import type { HeldFiles } from "../core/chat/delivery.ts";
import { FILE_KINDS } from "../core/message/reply-attachment.ts";
import type { StoredAttachment } from "../core/message/reply-attachment.ts";
import { attachmentContent, captionWithout, fileOf } from "../messengers/replies/attachment-content.ts";
import { mediaTypeOf } from "../../delivery/index.ts";
import type { ResultContent } from "./mcp-calls.ts";

/** Most bytes of files in one result: they are in its JSON, and pass from object to object. */
export const MOST_RESULT_BYTES = 5 * 1024 * 1024;

const TEXT_TYPE = /^text\/|^application\/(?:json|xml)$/;

/**
 * Returns what an action has attached, as content of its result: files with their bytes, addresses as links, and the
 * texts of cards and e-mails. Content of the bot's own types is for chats only, and is named.
 */
export async function attachedContent(
  callId: string,
  attachments: readonly StoredAttachment[],
  files: Pick<HeldFiles, "open">,
): Promise<readonly ResultContent[]> {
  const content: ResultContent[] = [];
  let leftBytes = MOST_RESULT_BYTES;
  for (const [index, attachment] of attachments.entries()) {
    const kind = Object.hasOwn(FILE_KINDS, attachment.type) ? FILE_KINDS[attachment.type] : undefined;
    if (kind === undefined) {
      content.push(textContent(wordsOf(attachment)));
      continue;
    }
    const file = { callId, index, attachment, kind, leftBytes };
    const { bytes, ...found } = await fileContent(file, files);
    leftBytes -= bytes;
    content.push(found.content);
    const words = captionWithout(attachment);
    if (words !== "") content.push(textContent(words));
  }
  return content;
}

interface AttachedFile {
  readonly callId: string;
  readonly index: number;
  readonly attachment: StoredAttachment;
  readonly kind: FileKind;
  readonly leftBytes: number;
}

async function fileContent(
  { attachment, callId, index, kind, leftBytes }: AttachedFile,
  files: Pick<HeldFiles, "open">,
): Promise<{ readonly content: ResultContent; readonly bytes: number }> {
  const { mediaType } = attachment;
  const { name = attachment.type, url } = fileOf(attachment) ?? {};
  const mimeType = typeof mediaType === "string" ? mediaType : mediaTypeOf(kind, name);
  const source = storedIn(attachment);
  if (url !== undefined) return { content: { type: "resource_link", uri: url, name, mimeType }, bytes: 0 };
  if (source === undefined || unsentCode(attachment) !== undefined)
    return { content: textContent(`${name} could not be attached.`), bytes: 0 };
  const { sizeBytes, storedId } = source;
  if (sizeBytes > leftBytes) {
    const words = `${name} (${mimeType}, ${sizeBytes} bytes) is too large: the files of a result have at most ${MOST_RESULT_BYTES} bytes in all.`;
    return { content: textContent(words), bytes: 0 };
  }
  try {
    const bytes = new Uint8Array(await new Response(files.open(storedId)).arrayBuffer());
    const uri = `attachment:${callId}/${index}/${encodeURIComponent(name)}`;
    return { content: contentOf(bytes, mimeType, uri), bytes: bytes.byteLength };
  } catch {
    // The bytes of a call are kept for weeks only.
    return { content: textContent(`${name} is not kept any more.`), bytes: 0 };
  }
}

function contentOf(bytes: Uint8Array, mimeType: string, uri: string): ResultContent {
  const [kind] = mimeType.split("/", 1);
  if (kind === "image" || kind === "audio") return { type: kind, data: toBase64(bytes), mimeType };
  const resource = TEXT_TYPE.test(mimeType)
    ? { uri, mimeType, text: new TextDecoder().decode(bytes) }
    : { uri, mimeType, blob: toBase64(bytes) };
  return { type: "resource", resource };
}

function storedIn({
  source,
}: StoredAttachment): { readonly storedId: string; readonly sizeBytes: number } | undefined {
  if (typeof source !== "object" || source === null || !("storedId" in source)) return undefined;
  const { sizeBytes, storedId } = source;
  return typeof storedId === "string" && typeof sizeBytes === "number" ? { storedId, sizeBytes } : undefined;
}

function wordsOf(attachment: StoredAttachment): string {
  const named = `An attachment of the type "${attachment.type}" is for chats only.`;
  try {
    const content = attachmentContent(attachment, { copyButtons: false, files: true });
    if (typeof content !== "object") return content ?? named;
    if (content.kind === "location") return JSON.stringify(attachment);
    return content.kind === "card" ? content.text : named;
  } catch {
    // Its fields are not those of its type. A chat would not show it either.
    return named;
  }
}

function textContent(text: string): ResultContent {
  return { type: "text", text };
}
