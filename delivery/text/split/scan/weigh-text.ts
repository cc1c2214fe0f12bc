import { isBlank } from "./line.ts";

/**
 * What characters cost that the parser has to try as the beginning or end of something, beside one of a word; measured
 * (`bench/split-cost.ts`).
 */
const WEIGHTS_BY_CHARACTER: Readonly<Record<string, number>> = {
  "*": 16,
  _: 16,
  "`": 12,
  "[": 8,
  "]": 24,
  "(": 4,
  ")": 4,
  "!": 4,
  "<": 6,
  ">": 30,
  "&": 6,
  "\\": 6,
  $: 4,
  "@": 16,
  "~": 8,
  ":": 12,
  "|": 40,
};
const LINE_WEIGHT = 24;
/** What a list item costs beside its text, and each column that it is indented: it stands in so many others. */
const ITEM_WEIGHT = 80;
const INDENT_WEIGHT = 5;
const DEFINITION_WEIGHT = 60;
/** What a blank line costs inside of a block: another one begins behind it. */
const BLANK_WEIGHT = 60;

const WEIGHTS: readonly number[] = Array.from(
  { length: 128 },
  (_, unit) => WEIGHTS_BY_CHARACTER[String.fromCharCode(unit)] ?? 1,
);
const MAX_WEIGHT = Math.max(...WEIGHTS);
const DEFINITION = /^[ \t>]{0,200}\[[^\]]{1,200}\]:/;
const ITEM = /^[ \t>]{0,200}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const SIMPLE_ROW = /^\|[^\\&<$\t@]*\|$/;

/** Whether a line is a row of a table that the short way through the parser takes. */
export function isSimpleRow(line: string): boolean {
  return SIMPLE_ROW.test(line);
}

/** What a row costs in a table of such rows alone. */
export function weighSimpleRow(line: string): number {
  return LINE_WEIGHT + line.length;
}

/** About what it costs to parse a line as markdown, in characters of plain prose. */
export function weighLine(line: string): number {
  return LINE_WEIGHT + startWeight(line) + reachWeight(line, Infinity).weight;
}

/** The same of several lines. */
export function weighLines(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + weighLine(line), 0);
}

/**
 * The length of the shortest beginning of a line whose characters weigh at least `weight`; undefined where all of them
 * weigh less. Depends on that beginning only.
 */
export function lengthOfWeight(line: string, weight: number): number | undefined {
  if (line.length * MAX_WEIGHT < weight) return undefined;
  const reached = reachWeight(line, weight);
  return reached.weight >= weight ? reached.length : undefined;
}

function reachWeight(line: string, limit: number): { readonly weight: number; readonly length: number } {
  let weight = 0;
  for (let at = 0; at < line.length; at += 1) {
    weight += WEIGHTS[line.charCodeAt(at)] ?? 1;
    if (weight >= limit) return { weight, length: at + 1 };
  }
  return { weight, length: line.length };
}

/** What a line costs because of what it begins. */
function startWeight(line: string): number {
  if (isBlank(line)) return BLANK_WEIGHT;
  if (ITEM.test(line)) return ITEM_WEIGHT + INDENT_WEIGHT * line.search(/[^ \t]/);
  return DEFINITION.test(line) ? DEFINITION_WEIGHT : 0;
}
