import type { OutgoingContent, SurfaceCapabilities } from "../../src/core/surface.ts";
import { hashContent } from "../text/split/pack/hash.ts";
import type { Part } from "../text/split/index.ts";
import { shownButtons } from "./card-text.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { ReplyBody } from "./reply-body.ts";

/**
 * The parts of a reply with what its body adds: the picture or the files on the first, the buttons on the last. A part's hash covers
 * what is added, so that a changed button is an edit like a changed word.
 *
 * `sent` are the rows of visible messages. A card that the platform does not remove any more says so in each of them.
 */
export function dressParts(
  parts: readonly Part<OutgoingContent>[],
  body: ReplyBody | undefined,
  capabilities: SurfaceCapabilities,
  sent: readonly Pick<OutboxRow, "part" | "shape">[],
): readonly Part<OutgoingContent>[] {
  if (body === undefined) return parts;
  if (body.kind === "removed") {
    const [word] = parts;
    if (!body.isLocked || word === undefined) return [];
    return sent.map(({ part: index, shape }) => ({
      ...word,
      index,
      ...(shape === "image" && { content: { ...word.content, isCaption: true } }),
    }));
  }
  if (body.kind === "files") {
    const { files } = body;
    return parts.map((part, at) =>
      at === 0
        ? { ...part, content: { ...part.content, files }, hash: hashContent([part.hash, { files }]) }
        : part,
    );
  }
  if (body.kind === "location" && capabilities.location !== true) return parts;
  if (body.kind === "location") {
    const { location } = body;
    const content = { text: "", entities: [], location };
    return [{ index: 0, complete: true, content, hash: hashContent([location]) }];
  }
  const { card } = body;
  const buttons = shownButtons(card, capabilities);
  return parts.map((part, at) => {
    const image = at === 0 && capabilities.images === true ? card.image : undefined;
    const hasButtons = at === parts.length - 1 && buttons.length > 0;
    const isCard = at === parts.length - 1;
    const more = {
      ...(isCard && { isCard }),
      ...(image !== undefined && { image }),
      ...(hasButtons && { buttons }),
    };
    if (Object.keys(more).length === 0) return part;
    return { ...part, content: { ...part.content, ...more }, hash: hashContent([part.hash, more]) };
  });
}
