import { fileForm } from "../../src/core/chat/degrade.ts";
import type { FileCapabilities, OutgoingContent, OutgoingMedia } from "../../src/core/chat/surface.ts";
import { hashContent } from "../text/split/pack/hash.ts";
import type { Part } from "../text/split/index.ts";
import type { CardForms } from "./card-forms.ts";
import { refusalsText } from "./card-text.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { ReplyBody } from "./reply-body.ts";

/**
 * Adds the contents of a reply's body to its parts: the picture or the files to the first, the buttons to the last. A
 * part's hash covers them, so a changed button leads to an edit like a changed word.
 *
 * `sent` are the rows of visible messages. If the platform can no longer remove those that a card does not need, each of
 * them shows `leftover`. `partOf` returns the first part of a text in Markdown.
 */
export function dressParts(
  parts: readonly Part<OutgoingContent>[],
  body: ReplyBody | undefined,
  { capabilities, isWhole, rows: buttons }: CardForms,
  sent: readonly Pick<OutboxRow, "part" | "shape">[],
  leftover: Part<OutgoingContent> | undefined,
  partOf: (text: string) => Part<OutgoingContent> | undefined,
): readonly Part<OutgoingContent>[] {
  if (body === undefined) return parts;
  if (body.kind === "removed") return leftovers(sent, leftover);
  if (body.kind === "files") {
    return capabilities.files === undefined
      ? parts
      : withFiles(parts, body.files, capabilities.files, partOf);
  }
  if (body.kind === "location" && capabilities.location !== true) return parts;
  if (body.kind === "location") {
    const { location } = body;
    const content = { text: "", entities: [], location };
    return [{ index: 0, complete: true, content, hash: hashContent([location]) }];
  }
  const { card } = body;
  const shown = parts.map((part, at) => {
    const image = at === 0 && capabilities.images === true ? card.image : undefined;
    const hasButtons = at === parts.length - 1 && buttons.length > 0;
    const isCard = isWhole || at === parts.length - 1;
    const more = {
      ...(isCard && { isCard }),
      ...(image !== undefined && { image }),
      ...(hasButtons && { buttons }),
    };
    if (Object.keys(more).length === 0) return part;
    return { ...part, content: { ...part.content, ...more }, hash: hashContent([part.hash, more]) };
  });
  const surplus = sent.filter((row) => !parts.some(({ index }) => index === row.part));
  return [...shown, ...leftovers(surplus, leftover)];
}

/** Returns a part for each message that should be gone, and that the platform does not remove. */
function leftovers(
  rows: readonly Pick<OutboxRow, "part" | "shape">[],
  leftover: Part<OutgoingContent> | undefined,
): readonly Part<OutgoingContent>[] {
  if (leftover === undefined) return [];
  return rows.map(({ part: index, shape }) => ({
    ...leftover,
    index,
    ...(shape === "image" && { content: { ...leftover.content, isCaption: true } }),
  }));
}

/**
 * Adds as many files to the first message as one can have, or puts them before the text. The others follow it, in
 * messages of their own. Of files that cannot be sent there is only a text: that of the first message is part of the
 * reply's text.
 */
function withFiles(
  parts: readonly Part<OutgoingContent>[],
  all: readonly OutgoingMedia[],
  capabilities: FileCapabilities,
  partOf: (text: string) => Part<OutgoingContent> | undefined,
): readonly Part<OutgoingContent>[] {
  const { hasCaptions = true, maxAlbumSize } = capabilities;
  const files = sendableOf(all.slice(0, maxAlbumSize), capabilities);
  const isApart = !hasCaptions && files.length > 0 && parts.some(({ content }) => content.text !== "");
  const behind = parts.map((part) => ({ ...part, index: part.index + 1 }));
  const dressed = (isApart ? [emptyPart(), ...behind] : parts).map((part, at) =>
    at === 0 && files.length > 0
      ? { ...part, content: { ...part.content, files }, hash: hashContent([part.hash, { files }]) }
      : part,
  );
  for (let at = maxAlbumSize; at < all.length; at += maxAlbumSize) {
    const chunk = all.slice(at, at + maxAlbumSize);
    const more = sendableOf(chunk, capabilities);
    const told = partOf(refusalsText(chunk))?.content ?? { text: "", entities: [] };
    const content = more.length === 0 ? told : { ...told, files: more };
    // Two equal files are two messages.
    const hash = hashContent([{ at, told, files: more }]);
    dressed.push({ index: dressed.length, complete: true, content, hash });
  }
  return dressed;
}

function sendableOf(
  files: readonly OutgoingMedia[],
  capabilities: FileCapabilities,
): readonly OutgoingMedia[] {
  return files.filter((file) => fileForm(file, capabilities) === "file");
}

export function emptyPart(): Part<OutgoingContent> {
  return { index: 0, complete: true, content: { text: "", entities: [] }, hash: "" };
}
