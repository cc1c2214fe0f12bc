import type { InlineText, MessageBlock } from "../../../src/core/message/message-block.ts";
import type { RichText, TextLimits } from "../../../src/core/message/rich-text.ts";
import { buildBlocks } from "./build-blocks.ts";
import { textOfBlocks } from "./text-of-blocks.ts";
import type { Block } from "../split/pack/block.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";
import type { MarkCost, Renderer } from "../split/pack/renderer.ts";

const MAX_URL_LENGTH = 2048;
/** A host that Telegram accepts in a link. It refuses the whole message for any other. */
const HOST =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(?:\p{L}{2,}|xn--[a-z\d-]+)$|^\d{1,3}(?:\.\d{1,3}){3}$/iu;
/** Deepest nesting of formatting inside a text. */
const MAX_MARKS = 4;
/**
 * Extra length of formatted text and of cells. Telegram refuses a message with about 5,800 of them, whatever their
 * length. The figure was found by trying; it is not documented.
 */
const RUN_LENGTH = 6;

/** Builds the blocks of a rich message, for platforms that show headings, lists, tables and formulas themselves. */
export const richBlocks: Renderer<RichText> = {
  effectiveMarks,
  textLength: (text) => text.length,
  markCost: () => ({ length: RUN_LENGTH, entities: 0 }),
  blockCost,
  canLink,

  render(pieces: readonly Piece[]): RichText {
    const shown = pieces.map((piece) => ({ ...piece, marks: effectiveMarks(piece.marks) }));
    const blocks: readonly MessageBlock[] = buildBlocks(shown);
    return { text: textOfBlocks(blocks), entities: [], blocks };
  },
};

/**
 * Builds a rich message only if it shows more than an ordinary one, which every client shows well. A part that has only
 * paragraphs and code, and fits the limits of an ordinary message, becomes an ordinary message.
 */
export function richWhereItShows(ordinary: Renderer<RichText>, limits: TextLimits): Renderer<RichText> {
  return {
    ...richBlocks,
    render(pieces) {
      const rich = richBlocks.render(pieces);
      if (rich.blocks?.every(isOrdinary) !== true || rich.text.length > limits.maxLength) return rich;
      const content = ordinary.render(pieces);
      const fits = content.text.length <= limits.maxLength && content.entities.length <= limits.maxEntities;
      return fits ? content : rich;
    },
  };
}

function isOrdinary(block: MessageBlock): boolean {
  if (block.type === "code") return true;
  return block.type === "paragraph" && !hasFormula(block.text);
}

function hasFormula(text: readonly InlineText[]): boolean {
  return text.some((run) => typeof run !== "string" && (run.type === "formula" || hasFormula(run.text)));
}

function blockCost({ kind }: Block): MarkCost {
  switch (kind) {
    case "cell":
    case "formula":
      return { length: RUN_LENGTH, entities: kind === "formula" ? 1 : 0 };
    case "table":
    case "row":
    case "paragraph":
    case "heading":
    case "code":
    case "divider":
    case "quote":
    case "list":
    case "item":
      return { length: 0, entities: 1 };
    default:
      return kind satisfies never;
  }
}

/** Returns the marks that blocks can show. Each kind counts once, and quotes are blocks here. */
function effectiveMarks(marks: readonly Mark[]): readonly Mark[] {
  if (marks.length < 2) return marks;
  const seen = new Set<Mark["kind"]>();
  const kept = marks.filter(({ kind }) => {
    if (kind === "quote" || seen.has(kind)) return false;
    seen.add(kind);
    return true;
  });
  const link = kept.find(({ kind }) => kind === "link");
  if (kept.length <= MAX_MARKS) return kept;
  return kept.filter((mark, index) => mark === link || index < MAX_MARKS - 1);
}

function canLink(url: string): boolean {
  if (url.length > MAX_URL_LENGTH || !/^(?:https?|tg):\/\//i.test(url) || /\s/.test(url)) return false;
  if (/^tg:/i.test(url)) return true;
  const host = URL.parse(url)?.hostname;
  return host !== undefined && HOST.test(host);
}
