import { findOpenInline } from "./open-inline.ts";
import { closesFence, parseFence } from "./line.ts";
import type { Fence } from "./line.ts";

/** Containers before the text of a line: quotes and list markers. */
export const CONTAINERS = /^[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])[ \t]+)*/;
/** Text that may still become a heading, a rule, an underline, a list item, a task, a fence or a row of a table. */
const HALF_BLOCK =
  /^(?:#{1,6}|[-*+_=: \t|]+|\d{1,9}[.)]?|>+|`{1,2}|`{3,}[^`]*|~{1,2}|~{3,}.*|\|.*|\[[ xX]?\]?|\[[^\]^][^\]]*\]:.*)$/;
const HALF_FENCE = /^[ \t>]*(?:`+|~+)[ \t]*$/;
const TABLE_ROW = /^[ \t]*\|/;
/** More openers than people nest. They are shown as text. */
const MAX_OPEN_DELIMITERS = 8;
/** A bracket opened further back than this is text. */
const MAX_HALF_LINK = 2048;

/**
 * Returns the text of the unfinished last line that can be shown already. A line that may become the beginning of a
 * block is held back until more text comes or the text ends.
 */
export function holdBackLine(line: string, openSource: string, insideFence: boolean): string {
  const text = line.replace(/[\r\ud800-\udbff]$/, "");
  if (insideFence || openFence(openSource) !== undefined) return HALF_FENCE.test(text) ? "" : text;
  const rest = text.replace(CONTAINERS, "").trim();
  return rest === "" || HALF_BLOCK.test(rest) ? "" : text;
}

export interface Repaired {
  /** The text, with everything closed that was open. */
  readonly source: string;
  /** Closers that were added at the end of `source`. */
  readonly closers: string;
  /** Openers to put before the next text, so that its formatting continues. */
  readonly reopen: string;
}

/** Closes or hides half-written inline markdown at the end of a text whose last block is still open. */
export function repairMarkdown(source: string): Repaired {
  if (openFence(source) !== undefined) return { source, closers: "", reopen: "" };
  const lines = source.trimEnd().split("\n");
  const last = lines.at(-1) ?? "";
  if (TABLE_ROW.test(last)) {
    const isHeader = !TABLE_ROW.test(lines.at(-2) ?? "");
    return { source: isHeader ? lines.slice(0, -1).join("\n") : source, closers: "", reopen: "" };
  }
  const start = lastTextStart(lines);
  const head = lines.slice(0, start).join("\n");
  const tail = lines.slice(start).join("\n");
  const repaired = repairInline(tail);
  return start === 0 ? repaired : { ...repaired, source: `${head}\n${repaired.source}` };
}

/**
 * Closes the formatting that is open where a block is cut, so that the text reads as it will in the complete block.
 *
 * It hides nothing. Text before a cut is not read again, so hidden text would be lost.
 */
export function closeMarkdown(source: string): Repaired {
  const whole = source.trimEnd();
  const lines = whole.split("\n");
  const isOdd = /(?:^|[^\\])(?:\\\\)*\\$/.test(whole.slice(-MAX_OPEN_DELIMITERS));
  if (openFence(source) !== undefined || TABLE_ROW.test(lines.at(-1) ?? "") || isOdd) {
    return { source, closers: "", reopen: "" };
  }
  const text = lines.slice(lastTextStart(lines)).join("\n");
  const { delimiters, code, trailingRun } = findOpenInline(text);
  // Three backticks at the start of a line would open a block.
  const isCode = code !== undefined && code.run.length < 3 && text.length > code.at + code.run.length;
  if (
    delimiters.length > MAX_OPEN_DELIMITERS ||
    trailingRun !== undefined ||
    (code !== undefined && !isCode)
  ) {
    return { source, closers: "", reopen: "" };
  }
  const runs = [...delimiters.map(({ run }) => run), ...(isCode ? [code.run] : [])];
  const closers = runs.toReversed().join("");
  return { source: whole + closers, closers, reopen: runs.join("") };
}

/** Finds the first line of the last text. Inline formatting ends at a blank line and at the next list item. */
function lastTextStart(lines: readonly string[]): number {
  for (let index = lines.length - 1; index > 0; index -= 1) {
    const line = lines[index] ?? "";
    if (/^[ \t>]*$/.test(line)) return index + 1;
    if (/^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t])/.test(line)) return index;
  }
  return 0;
}

function repairInline(text: string): Repaired {
  const found = findOpenInline(text);
  const open = found.delimiters.length > MAX_OPEN_DELIMITERS ? { ...found, delimiters: [] } : found;
  let source = text;
  if (open.trailingRun !== undefined) source = source.slice(0, open.trailingRun);
  let reopen = open.delimiters.map(({ run }) => run).join("");
  let closers = open.delimiters
    .toReversed()
    .map(({ run }) => run)
    .join("");
  if (open.code !== undefined) {
    const { at, run } = open.code;
    source = withoutBackticks(source);
    if (source.length <= at + run.length) source = source.slice(0, at);
    else {
      closers = run + closers;
      reopen += run;
    }
  } else {
    source = hideHalfLink(source, open.bracket).replace(
      /(?:\\|&#?\w{0,32}|<(?=https?:)[^\s<>]*|<(?:br?|br ?\/?)?)$/i,
      (half) => (/^<h/i.test(half) ? half.slice(1) : ""),
    );
  }
  source = source.trimEnd();
  const emptied = open.delimiters.some(({ run }) => source.endsWith(run) && closers !== "");
  return emptied ? dropEmptyOpeners(source, closers, reopen) : { source: source + closers, closers, reopen };
}

function withoutBackticks(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "`") end -= 1;
  return text.slice(0, end);
}

/** Removes openers that have no text after them yet. */
function dropEmptyOpeners(source: string, closers: string, reopen: string): Repaired {
  let rest = source;
  let left = closers;
  for (const run of reopen.match(/\*+|_+|~+/g)?.toReversed() ?? []) {
    if (!rest.endsWith(run)) break;
    rest = rest.slice(0, -run.length).trimEnd();
    left = left.slice(run.length);
  }
  return { source: rest + left, closers: left, reopen: reopen.slice(0, left.length) };
}

/** Shows the text of a link, without its brackets, while its address is still coming. */
function hideHalfLink(
  text: string,
  bracket: { readonly at: number; readonly textEnd: number | undefined } | undefined,
): string {
  if (bracket === undefined || text.length - bracket.at > MAX_HALF_LINK) return text;
  // A footnote is shown as it is written.
  if (text.charAt(bracket.at + 1) === "^") return text;
  const isImage = text.charAt(bracket.at - 1) === "!";
  const before = text.slice(0, isImage ? bracket.at - 1 : bracket.at);
  return before + text.slice(bracket.at + 1, bracket.textEnd);
}

/**
 * Finds the code fence that is open at the end of a text, even inside lists and quotes. `line` is the fence with the
 * containers before it.
 */
export function openFence(source: string): { readonly fence: Fence; readonly line: string } | undefined {
  if (!source.includes("```") && !source.includes("~~~")) return undefined;
  let open: { fence: Fence; line: string } | undefined;
  for (const line of source.split("\n")) {
    const text = line.replace(CONTAINERS, "");
    if (open === undefined) {
      const fence = parseFence(text);
      if (fence !== undefined) open = { fence, line };
    } else if (closesFence(text, open.fence)) open = undefined;
  }
  return open;
}
