import {
  indentOf,
  isBlank,
  isHeading,
  isQuote,
  isThematicBreak,
  parseFence,
  parseListMarker,
} from "./line.ts";
import { closeMarkdown, CONTAINERS, openFence } from "./repair.ts";

/** What a segment needs to go on where the one before it was cut inside a block. */
export interface Carry {
  /** Lines that stand before the text again: the opening of a fence, or the head of a table. */
  readonly again: readonly string[];
  /** Openers of the formatting that goes on. */
  readonly reopen: string;
  readonly continuesTable: boolean;
  /** What follows is text whatever it looks like. */
  readonly verbatim: boolean;
}

export interface LineSplit {
  /** Closed so that it reads as it will in the whole. */
  readonly source: string;
  readonly rest: readonly string[];
  readonly afterBlank: boolean;
  readonly carry: Carry;
}

const NO_CARRY: Carry = { again: [], reopen: "", continuesTable: false, verbatim: false };
const TABLE_RULE = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const NESTED_ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/;

export interface LineSplitOptions {
  /** Indentation that the lines that follow lose. */
  readonly dedent: number;
  /** Cut behind the last line, which is not whole. */
  readonly atEnd: boolean;
  readonly verbatim: boolean;
}

/**
 * Cuts the lines of a block that has grown too large to be read again with every chunk. The cut is at a blank line or a
 * nested item of the second half where there is one, else at the end.
 */
export function splitLines(lines: readonly string[], options: LineSplitOptions): LineSplit {
  const { dedent, atEnd, verbatim } = options;
  const at = verbatim || atEnd ? lines.length : cutLine(lines);
  const head = lines.slice(0, at);
  const rest = lines.slice(at);
  const firstText = rest.findIndex((line) => !isBlank(line));
  const kept = firstText === -1 ? [] : rest.slice(firstText);
  const afterBlank = isBlank(head.at(-1) ?? "") || firstText > 0 || (firstText === -1 && rest.length > 0);
  const source = head.join("\n");
  if (verbatim) return { source, rest: kept, afterBlank, carry: { ...NO_CARRY, verbatim } };
  const fence = openFence(source);
  if (fence !== undefined) {
    const again = removeIndent(fence.line.replace(CONTAINERS, blankMarkers), dedent);
    return { source, rest: kept, afterBlank, carry: { ...NO_CARRY, again: [again] } };
  }
  const table = afterBlank ? [] : tableHead(head);
  if (table.length > 0) {
    return { source, rest: kept, afterBlank, carry: { ...NO_CARRY, again: table, continuesTable: true } };
  }
  if (afterBlank || kept.length > 0) return { source, rest: kept, afterBlank, carry: NO_CARRY };
  const closed = closeMarkdown(source);
  return { source: closed.source, rest: kept, afterBlank, carry: { ...NO_CARRY, reopen: closed.reopen } };
}

/** Takes up to `columns` of indentation off a line. */
export function removeIndent(line: string, columns: number): string {
  if (columns === 0) return line;
  const indent = indentOf(line);
  return " ".repeat(Math.max(0, indent - columns)) + line.trimStart();
}

/** Puts openers before the text of a line, unless the line begins a block of its own. */
export function reopenLine(line: string, reopen: string): string {
  if (reopen === "" || isBlank(line)) return line;
  const quotes = /^[ \t>]*/.exec(line)?.[0] ?? "";
  const text = line.slice(quotes.length);
  return startsBlock(text) ? line : quotes + reopen + text;
}

/** Keeps the rest of a line, which begins anywhere in it, from being read as the beginning of a block. */
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

function cutLine(lines: readonly string[]): number {
  const half = Math.floor(lines.length / 2);
  const fence = (at: number): boolean => openFence(lines.slice(0, at).join("\n")) !== undefined;
  for (const isGood of [isBlank, (line: string) => NESTED_ITEM.test(line)]) {
    const at = lines.findLastIndex((line, index) => index > half && isGood(line));
    if (at > half && !fence(at)) return at;
  }
  return lines.length;
}

function blankMarkers(containers: string): string {
  return containers.replace(/[^\s>]/g, " ");
}

/** Header and rule of the table that the lines end with. */
function tableHead(lines: readonly string[]): readonly string[] {
  for (let index = lines.length - 1; index > 0; index -= 1) {
    const line = lines[index] ?? "";
    if (isBlank(line)) return [];
    if (TABLE_RULE.test(line) && line.includes("|")) return lines.slice(index - 1, index + 1);
  }
  return [];
}
