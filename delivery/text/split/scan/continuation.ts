import { openerLines, positionAfter, prefixOf, TOP_POSITION } from "./containers.ts";
import type { Position } from "./containers.ts";
import { isBlank, isHeading, isQuote, isThematicBreak, parseFence, parseListMarker } from "./line.ts";
import { closeMarkdown, CONTAINERS, openFence } from "./repair.ts";

/** State that a segment needs to continue a block that was cut before it. */
export interface Carry {
  readonly position: Position;
  /** Lines that open the containers again. */
  readonly again: readonly string[];
  /** Lines that were shown before and are repeated for the parser: the code fence, or the head of the table. */
  readonly heads: readonly string[];
  /** Openers of the formatting that continues. */
  readonly reopen: string;
  readonly continues: "table" | "code" | undefined;
  /** Blank lines of code at the end of the earlier text. */
  readonly blankLines: number;
  /** True if the rest of the block is plain text, even if it looks like markdown. */
  readonly verbatim: boolean;
}

export interface LineSplit {
  /** The first part of the lines, closed so that it reads as it will in the complete text. */
  readonly source: string;
  readonly closers: string;
  readonly rest: readonly string[];
  readonly afterBlank: boolean;
  readonly carry: Carry;
}

const NO_CARRY: Carry = {
  position: TOP_POSITION,
  again: [],
  heads: [],
  reopen: "",
  continues: undefined,
  blankLines: 0,
  verbatim: false,
};
const TABLE_RULE = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;
const NESTED_ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** Containers nested more deeply than this at a cut are not repeated. The text is shown as it was written. */
const MAX_DEPTH = 16;

export interface LineSplitOptions {
  /** Cut after the last line, which is not complete yet. */
  readonly atEnd: boolean;
  readonly verbatim: boolean;
  /** The state of the earlier cut. The lines begin with its `again` and `heads`. */
  readonly before: Carry | undefined;
  /** Number to show for the first item, whatever number the text has. */
  readonly firstNumber: number | undefined;
}

/**
 * Cuts a block that is too large to be read again with every chunk. The cut is before a blank line or a nested item in
 * the second half, if there is one; otherwise at the end.
 */
export function splitLines(
  lines: readonly string[],
  { atEnd, verbatim, before, firstNumber }: LineSplitOptions,
): LineSplit {
  const again = (before?.again.length ?? 0) + (before?.heads.length ?? 0);
  const at = verbatim || atEnd ? lines.length : cutLine(lines, again);
  const head = lines.slice(0, at);
  const rest = lines.slice(at);
  const firstText = rest.findIndex((line) => !isBlank(line));
  const kept = firstText === -1 ? [] : rest.slice(firstText);
  const afterBlank = isBlank(head.at(-1) ?? "") || firstText > 0 || (firstText === -1 && rest.length > 0);
  const source = head.join("\n");
  const cut = (carry: Partial<Carry>, closed = { source, closers: "" }): LineSplit => ({
    source: closed.source,
    closers: closed.closers,
    rest: kept,
    afterBlank,
    carry: { ...NO_CARRY, ...carry },
  });
  if (verbatim) return cut({ verbatim });
  const position = positionAfter(head.slice(again), before?.position ?? TOP_POSITION, firstNumber);
  const { containers, fenceLine } = position;
  if (containers.length > MAX_DEPTH) return cut({ verbatim: true });
  const openers = openerLines(containers);
  const prefix = prefixOf(containers);
  if (fenceLine !== undefined) {
    const blankLines = countBlankEnd(head.slice(again), before?.blankLines ?? 0);
    return cut({ position, again: openers, heads: [prefix + fenceLine], continues: "code", blankLines });
  }
  const table = afterBlank ? [] : tableHead(head);
  if (table.length > 0) {
    const heads = table.map((line) => prefix + line);
    return cut({ position, again: openers, heads, continues: "table" });
  }
  if (afterBlank || kept.length > 0) return cut({ position, again: openers });
  const closed = closeMarkdown(atEnd ? source : withoutHardBreak(source));
  return cut({ position, again: openers, reopen: closed.reopen }, closed);
}

/** Returns the state after a blank line, which ends formatting and tables but not code. */
export function carryOverBlank(carry: Carry): Carry {
  if (carry.continues === "code") return { ...carry, blankLines: carry.blankLines + 1 };
  return { ...carry, heads: [], reopen: "", continues: undefined };
}

/**
 * Finds the column in a line at which openers of formatting can be inserted. Returns undefined if the line begins a
 * block of its own.
 */
export function textStart(line: string): number | undefined {
  if (isBlank(line)) return undefined;
  const before = /^[ \t>]*/.exec(line)?.[0].length ?? 0;
  return startsBlock(line.slice(before)) ? undefined : before;
}

/** Escapes the rest of a line that was cut, so that the parser does not read it as the beginning of a block. */
export function escapeLineStart(text: string): string {
  const rest = text.trimStart();
  if (!startsBlock(rest) && !/^(?:[=-]+|\|)/.test(rest)) return rest;
  return rest.replace(/^(\d*)/, "$1\\");
}

function startsBlock(text: string): boolean {
  return (
    isHeading(text) ||
    isThematicBreak(text) ||
    isQuote(text) ||
    parseFence(text) !== undefined ||
    parseListMarker(text) !== undefined ||
    text.startsWith("|")
  );
}

function cutLine(lines: readonly string[], again: number): number {
  const half = Math.max(Math.floor(lines.length / 2), again);
  const fence = (at: number): boolean => openFence(lines.slice(0, at).join("\n")) !== undefined;
  for (const isGood of [isBlank, (line: string) => NESTED_ITEM.test(line)]) {
    const at = lines.findLastIndex((line, index) => index > half && isGood(line));
    if (at > half && !fence(at)) return at;
  }
  // A row without a rule may be the head of a table. The next line decides.
  const last = lines.length - 1;
  const mayBeHead = last >= again && isRow(lines[last]) && !isRow(lines[last - 1]);
  return mayBeHead ? last : lines.length;
}

function isRow(line: string | undefined): boolean {
  return line !== undefined && line.replace(CONTAINERS, "").startsWith("|");
}

/** Removes a backslash at the end: the cut breaks the line anyway. */
function withoutHardBreak(source: string): string {
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(source) ? source.slice(0, -1) : source;
}

function countBlankEnd(lines: readonly string[], before: number): number {
  const last = lines.findLastIndex((line) => !/^[ \t>]*$/.test(line));
  return last === -1 ? before + lines.length : lines.length - 1 - last;
}

/** Returns the header and the rule of the table at the end of `lines`, without the containers around it. */
function tableHead(lines: readonly string[]): readonly string[] {
  for (let index = lines.length - 1; index > 0; index -= 1) {
    const line = lines[index] ?? "";
    if (isBlank(line)) return [];
    const rule = line.replace(/^[ \t>]+/, "").trimEnd();
    if (!rule.includes("|") || !TABLE_RULE.test(rule)) continue;
    return [(lines[index - 1] ?? "").replace(CONTAINERS, "").trimStart(), rule];
  }
  return [];
}
