import type { RichText, TextEntity } from "../../src/core/rich-text.ts";
import type { Mark, Piece } from "../split/piece.ts";
import type { MarkCost, Renderer } from "../split/renderer.ts";
import { countLineBreaks, LineWriter } from "./line-writer.ts";

/** Schemes that Telegram opens behind a text. */
const LINK = /^(?:https?|tg|ton|tonsite):\/\//i;
const MAX_URL_LENGTH = 2048;
const QUOTE_PREFIX = "> ";

/**
 * Text and entities of the Bot API. Quotes do not nest there, so a quote inside a quote is written with "> "; code
 * carries no other formatting, except that a link stays a link.
 */
export const telegramEntities: Renderer<RichText> = {
  effectiveMarks,

  textLength(text, marks) {
    const depth = innerQuotes(marks);
    return depth === 0 ? text.length : text.length + countLineBreaks(text) * depth * QUOTE_PREFIX.length;
  },

  markCost(mark, marks): MarkCost {
    if (mark.kind !== "quote") return { length: 0, entities: 1 };
    const isOuter = marks.find(({ kind }) => kind === "quote") === mark;
    return isOuter ? { length: 0, entities: 1 } : { length: QUOTE_PREFIX.length, entities: 0 };
  },

  canLink: (url) => url.length <= MAX_URL_LENGTH && LINK.test(url),

  render(pieces: readonly Piece[]): RichText {
    const lines = new LineWriter();
    const open = new Map<Mark, number>();
    const entities: TextEntity[] = [];
    const close = (mark: Mark): void => {
      const entity = toEntity(mark, lines.text, open.get(mark) ?? 0);
      open.delete(mark);
      if (entity !== undefined) entities.push(entity);
    };
    for (const piece of pieces) {
      const marks = effectiveMarks(piece.marks);
      for (const mark of open.keys()) if (!marks.includes(mark)) close(mark);
      lines.prefix = QUOTE_PREFIX.repeat(innerQuotes(marks));
      const start = lines.text.length;
      const outer = marks.find(({ kind }) => kind === "quote");
      for (const mark of marks) {
        if (mark.kind === "quote" && mark !== outer) continue;
        if (!open.has(mark)) open.set(mark, start);
      }
      lines.write(piece.text);
    }
    for (const mark of open.keys()) close(mark);
    entities.sort((left, right) => left.offset - right.offset || right.length - left.length);
    return { text: lines.text, entities };
  },
};

function innerQuotes(marks: readonly Mark[]): number {
  let quotes = 0;
  for (const mark of marks) if (mark.kind === "quote") quotes += 1;
  return Math.max(0, quotes - 1);
}

function effectiveMarks(marks: readonly Mark[]): readonly Mark[] {
  if (marks.length < 2) return marks;
  const code = marks.find(({ kind }) => kind === "pre") ?? marks.find(({ kind }) => kind === "code");
  const link = marks.find(({ kind }) => kind === "link");
  if (code !== undefined && (code.kind === "pre" || link === undefined)) {
    return marks.filter((mark) => mark.kind === "quote" || mark === code);
  }
  const seen = new Set<Mark["kind"]>();
  return marks.filter(({ kind }) => {
    if (kind === "quote") return true;
    if (kind === "code" || seen.has(kind)) return false;
    seen.add(kind);
    return true;
  });
}

/** Entities neither begin nor end with whitespace; only code keeps the indentation of its first line. */
function toEntity(mark: Mark, text: string, from: number): TextEntity | undefined {
  const covered = text.slice(from);
  const lead = mark.kind === "pre" ? 0 : covered.length - covered.trimStart().length;
  const length = covered.trim() === "" ? 0 : covered.trimEnd().length - lead;
  if (length === 0) return undefined;
  const place = { offset: from + lead, length };
  switch (mark.kind) {
    case "quote":
      return { type: "blockquote", ...place };
    case "pre":
      return mark.language === undefined
        ? { type: "pre", ...place }
        : { type: "pre", ...place, language: mark.language };
    case "link":
      // Telegram finds a whole address by itself, without the question that a hidden one is opened with.
      return mark.display === covered.trim() && /\w\.\w/.test(mark.display)
        ? undefined
        : { type: "text_link", ...place, url: mark.url };
    default:
      return { type: mark.kind, ...place };
  }
}
