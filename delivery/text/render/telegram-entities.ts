import type { RichText, TextEntity } from "../../../src/core/message/rich-text.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";
import type { MarkCost, Renderer } from "../split/pack/renderer.ts";
import { countLineBreaks, LineWriter } from "./line-writer.ts";

/** Schemes that Telegram opens behind a text. */
const LINK = /^(?:https?|tg|ton|tonsite):\/\//i;
const MAX_URL_LENGTH = 2048;
const QUOTE_PREFIX = "> ";

/**
 * Writes text and entities of the Bot API. Quotes do not nest there, so a quote inside a quote is written with "> ".
 * Code has no other formatting, except that a link stays a link.
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
    const open = new Map<Mark, { readonly from: number; readonly order: number }>();
    const entities: { readonly entity: TextEntity; readonly order: number }[] = [];
    const codeStarts: number[] = [];
    let order = 0;
    const close = (mark: Mark): void => {
      const start = open.get(mark);
      open.delete(mark);
      const entity = start && toEntity(mark, lines.text, start.from, codeStarts);
      if (start !== undefined && entity !== undefined) entities.push({ entity, order: start.order });
    };
    for (const piece of pieces) {
      const marks = effectiveMarks(piece.marks);
      for (const mark of open.keys()) if (!marks.includes(mark)) close(mark);
      lines.prefix = QUOTE_PREFIX.repeat(innerQuotes(marks));
      const start = lines.text.length;
      const outer = marks.find(({ kind }) => kind === "quote");
      for (const mark of marks) {
        if (mark.kind === "quote" && mark !== outer) continue;
        if (open.has(mark)) continue;
        open.set(mark, { from: start, order });
        if (mark.kind === "pre") codeStarts.push(start);
        order += 1;
      }
      lines.write(piece.text);
    }
    for (const mark of open.keys()) close(mark);
    entities.sort(
      (left, right) =>
        left.entity.offset - right.entity.offset ||
        right.entity.length - left.entity.length ||
        left.order - right.order,
    );
    return { text: lines.text, entities: joinTouching(entities.map(({ entity }) => entity)) };
  },
};

/** Joins two entities that touch and are equal: they are halves of formatting that was cut. */
function joinTouching(entities: readonly TextEntity[]): readonly TextEntity[] {
  const joined: TextEntity[] = [];
  const latest = new Map<string, number>();
  for (const entity of entities) {
    const key = `${entity.type} ${entity.url ?? ""}`;
    const index = latest.get(key);
    const first = index === undefined ? undefined : joined[index];
    if (index !== undefined && first !== undefined && canJoin(first, entity, entities)) {
      joined[index] = { ...first, length: first.length + entity.length };
    } else {
      latest.set(key, joined.length);
      joined.push(entity);
    }
  }
  return joined;
}

function canJoin(first: TextEntity, second: TextEntity, all: readonly TextEntity[]): boolean {
  if (first.offset + first.length !== second.offset || !JOINED.has(first.type)) return false;
  const holds = (outer: TextEntity, inner: TextEntity): boolean =>
    outer.offset <= inner.offset && outer.offset + outer.length >= inner.offset + inner.length;
  return all.every(
    (other) =>
      other.type === first.type || other.type === second.type || holds(other, first) === holds(other, second),
  );
}

const JOINED: ReadonlySet<string> = new Set(["bold", "italic", "strikethrough", "text_link"]);

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

/**
 * Turns a mark into an entity. Entities neither begin nor end with whitespace, except that code keeps the indentation
 * of its first line.
 */
function toEntity(
  mark: Mark,
  text: string,
  from: number,
  codeStarts: readonly number[],
): TextEntity | undefined {
  const covered = text.slice(from);
  const firstText = from + covered.length - covered.trimStart().length;
  const code =
    mark.kind === "quote" || mark.kind === "pre" ? codeStarts.find((start) => start >= from) : undefined;
  const lead = Math.min(firstText, code ?? firstText) - from;
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
      // Telegram finds a whole address itself and opens it without asking. It asks before it opens a hidden one.
      return mark.display === covered.trim() && /\w\.\w/.test(mark.display)
        ? undefined
        : { type: "text_link", ...place, url: mark.url };
    default:
      return { type: mark.kind, ...place };
  }
}
