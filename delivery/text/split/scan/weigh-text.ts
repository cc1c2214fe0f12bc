import { isBlank } from "./line.ts";

/**
 * Cost of characters that the parser tries as the beginning or end of a construct. The unit is the cost of a character
 * of a word. Measured with `lab/bench/split-cost.ts`.
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
/** Extra cost of a list item, and of each column of its indentation: a deeper item is inside more containers. */
const ITEM_WEIGHT = 80;
const INDENT_WEIGHT = 5;
const DEFINITION_WEIGHT = 60;
/** Cost of a blank line inside a block: another block begins after it. */
const BLANK_WEIGHT = 60;

const WEIGHTS: readonly number[] = Array.from(
  { length: 128 },
  (_, unit) => WEIGHTS_BY_CHARACTER[String.fromCharCode(unit)] ?? 1,
);
const MAX_WEIGHT = Math.max(...WEIGHTS);
const DEFINITION = /^[ \t>]{0,200}\[[^\]]{1,200}\]:/;
const ITEM = /^[ \t>]{0,200}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const SIMPLE_ROW = /^\|[^\\&<$\t@]*\|$/;

/** True if the line is a table row that `parseSimple` can read. */
export function isSimpleRow(line: string): boolean {
  return SIMPLE_ROW.test(line);
}

/** Cost of a row in a table that has simple rows only. */
export function weighSimpleRow(line: string): number {
  return LINE_WEIGHT + line.length;
}

/** Estimates the cost of parsing a line as markdown, in characters of plain prose. */
export function weighLine(line: string): number {
  return LINE_WEIGHT + startWeight(line) + reachWeight(line, Infinity).weight;
}

/** Estimates the cost of parsing lines as markdown, in characters of plain prose. */
export function weighLines(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + weighLine(line), 0);
}

/**
 * Returns the length of the shortest prefix of a line that weighs at least `weight`. Returns undefined if the whole
 * line weighs less. Text after the prefix has no influence.
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

/** Extra cost of a line that begins a block. */
function startWeight(line: string): number {
  if (isBlank(line)) return BLANK_WEIGHT;
  if (ITEM.test(line)) return ITEM_WEIGHT + INDENT_WEIGHT * line.search(/[^ \t]/);
  return DEFINITION.test(line) ? DEFINITION_WEIGHT : 0;
}
