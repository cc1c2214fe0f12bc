import type { Markup } from "../../../src/core/message/markup.ts";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import { textLength } from "../../../src/core/text/text-length.ts";
import type { LengthUnit } from "../../../src/core/text/text-length.ts";
import type { Run } from "../split/pack/block.ts";
import type { Mark } from "../split/pack/piece.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { countLineBreaks, LineWriter } from "./line-writer.ts";

const QUOTE_PREFIX = "> ";
/** The beginning of a link in Markdown. After an exclamation mark it would be a picture. */
const LINK_OPENER = "[";

/**
 * Creates the renderer for a platform with markup. Formatting is closed and opened again at every line break, and never
 * begins or ends with whitespace. Platforms do not recognize it otherwise.
 */
export function createMarkupRenderer(rules: Markup, unit?: LengthUnit): Renderer<RichText> {
  const lengthOf = (text: string): number => textLength(text, unit);
  const markLength = (mark: Mark): number => {
    if (mark.kind === "quote") return QUOTE_PREFIX.length;
    const opener = rules.open(mark);
    return lengthOf(opener) + lengthOf(rules.close(mark)) + (opener === LINK_OPENER ? 1 : 0);
  };
  // A line break inside inline code is written outside the code.
  const breakLength = (): number => lengthOf(rules.escape("\n", false)) - 1;
  return {
    effectiveMarks,
    lists: rules.lists,
    canLink: (url) => rules.canLink(url),
    textLength(text, marks) {
      const escaped =
        isCode(marks) && !isWrittenOut(text, marks, rules)
          ? rules.escapeCode(text)
          : rules.escape(text, true);
      const isInlineCode = marks.some(({ kind }) => kind === "code");
      const perLine = marks.reduce(
        (sum, mark) => sum + (mark.kind === "pre" ? 0 : markLength(mark)),
        isInlineCode ? breakLength() : 0,
      );
      return lengthOf(escaped) + countLineBreaks(text) * perLine;
    },
    markCost: (mark, marks) => {
      if (mark.kind !== "pre") return { length: markLength(mark), entities: 0 };
      // Line breaks around the code and around its fences. Each of them repeats the markers of quotes.
      const quotes = marks.filter(({ kind }) => kind === "quote").length;
      return { length: markLength(mark) + 2 + 4 * quotes * QUOTE_PREFIX.length, entities: 0 };
    },
    render: (pieces) => ({ text: writeMarkup(pieces, rules), entities: [] }),
  };
}

/**
 * Writes text with its marks.
 *
 * @param isInLine whether it stands inside a line, such as in the cell of a table
 */
export function writeMarkup(pieces: readonly Run[], rules: Markup, isInLine = false): string {
  const lines = new LineWriter();
  let open: readonly Mark[] = [];
  const turnTo = (marks: readonly Mark[]): void => {
    let common = 0;
    while (common < open.length && common < marks.length && open[common] === marks[common]) common += 1;
    for (const mark of open.slice(common).toReversed()) lines.write(rules.close(mark));
    lines.prefix = QUOTE_PREFIX.repeat(marks.filter(({ kind }) => kind === "quote").length);
    for (const mark of marks.slice(common)) {
      if (mark.kind === "pre" && !lines.atLineStart) lines.write("\n");
      const opener = rules.open(mark);
      if (opener === LINK_OPENER) lines.escapeEnd("!");
      lines.write(opener);
    }
    open = marks;
  };
  const settled = settleSpaces(pieces.flatMap(splitRuns)).map((run) => writtenOut(run, rules));
  for (const run of rules.needsBorders === true ? withoutInnerMarks(settled) : settled) {
    const isPre = ({ kind }: Mark): boolean => kind === "pre";
    const afterCode = open.some(isPre) && !run.marks.some(isPre);
    turnTo(run.marks);
    if (afterCode && !run.text.startsWith("\n")) lines.write("\n");
    lines.write(
      isCode(run.marks) ? rules.escapeCode(run.text) : rules.escape(run.text, lines.isLineBlank && !isInLine),
    );
  }
  turnTo([]);
  return lines.text;
}

/** Cuts text at its line breaks and separates the whitespace at its ends. */
function splitRuns({ text, marks: written }: Run): Run[] {
  const marks = effectiveMarks(written);
  if (marks.some(({ kind }) => kind === "pre")) return [{ text, marks }];
  const runs: Run[] = [];
  let from = 0;
  for (const match of text.matchAll(/\s+/g)) {
    const [space] = match;
    const end = match.index + space.length;
    if (match.index > 0 && end < text.length && !space.includes("\n")) continue;
    if (match.index > from) runs.push({ text: text.slice(from, match.index), marks });
    runs.push({ text: space, marks });
    from = end;
  }
  if (from < text.length) runs.push({ text: text.slice(from), marks });
  return runs;
}

/** Moves whitespace into the formatting that continues after it, and out of any other. */
function settleSpaces(runs: readonly Run[]): Run[] {
  const isSpace = (run: Run): boolean =>
    run.text.trim() === "" && !run.marks.some(({ kind }) => kind === "pre");
  let before: readonly Mark[] = [];
  return runs.map((run, index) => {
    if (!isSpace(run)) {
      before = run.marks;
      return run;
    }
    const isBreak = run.text.includes("\n");
    const next = runs.slice(index + 1, index + 1 + MAX_SPACES).find((other) => !isSpace(other))?.marks ?? [];
    const marks = before.filter((mark) => next.includes(mark) && (!isBreak || mark.kind === "quote"));
    return { text: run.text, marks };
  });
}

/** True if code is written as text: a code span of single backticks cannot contain a backtick. */
function isWrittenOut(text: string, marks: readonly Mark[], rules: Markup): boolean {
  return rules.escapesBackticks === true && text.includes("`") && marks.some(({ kind }) => kind === "code");
}

function writtenOut(run: Run, rules: Markup): Run {
  if (!isWrittenOut(run.text, run.marks, rules)) return run;
  return { ...run, marks: run.marks.filter(({ kind }) => kind !== "code") };
}

/** Removes the marks that begin or end inside a word. */
function withoutInnerMarks(runs: readonly Run[]): readonly Run[] {
  const inner = new Map<Mark, Set<number>>();
  for (const [first, run] of runs.entries()) {
    for (const mark of run.marks) {
      if (!BORDERED.has(mark.kind) || runs[first - 1]?.marks.includes(mark) === true) continue;
      let end = first + 1;
      while (runs[end]?.marks.includes(mark) === true) end += 1;
      const before = runs[first - 1];
      const after = runs[end];
      if (!touchesWord(before, ENDS_AS_WORD) && !touchesWord(after, BEGINS_AS_WORD)) continue;
      const places = inner.get(mark) ?? new Set();
      inner.set(mark, places);
      for (let at = first; at < end; at += 1) places.add(at);
    }
  }
  if (inner.size === 0) return runs;
  return runs.map(({ text, marks }, at) => ({
    text,
    marks: marks.filter((mark) => inner.get(mark)?.has(at) !== true),
  }));
}

/** True if formatting beside the run would touch a word. Code is separated by its own markers. */
function touchesWord(run: Run | undefined, word: RegExp): boolean {
  return run !== undefined && !isCode(run.marks) && word.test(run.text);
}

const BORDERED: ReadonlySet<Mark["kind"]> = new Set(["bold", "italic", "strikethrough"]);
const ENDS_AS_WORD = /[\p{L}\p{M}\p{N}]$/u;
const BEGINS_AS_WORD = /^[\p{L}\p{M}\p{N}]/u;

/** Longest chain of whitespace runs to look through. */
const MAX_SPACES = 8;

function isCode(marks: readonly Mark[]): boolean {
  return marks.some(({ kind }) => kind === "pre" || kind === "code");
}

/**
 * Returns the marks that markup can show: code has no other formatting, and no mark is inside itself. Quotes come
 * first, because they belong to the line.
 */
function effectiveMarks(marks: readonly Mark[]): readonly Mark[] {
  if (marks.length === 0) return marks;
  const pre = marks.find(({ kind }) => kind === "pre");
  const quotes = marks.filter(({ kind }) => kind === "quote");
  if (pre !== undefined) return [...quotes, pre];
  const seen = new Set<Mark["kind"]>();
  const inline = marks.filter(({ kind }) => {
    if (kind === "quote" || seen.has(kind)) return false;
    seen.add(kind);
    return true;
  });
  const code = inline.filter(({ kind }) => kind === "code");
  return [...quotes, ...inline.filter(({ kind }) => kind !== "code"), ...code];
}
