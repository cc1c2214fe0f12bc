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
};
const LINE_WEIGHT = 24;
const CELL_WEIGHT = 40;
/** Of a row that the short way through the parser takes. */
const SIMPLE_CELL_WEIGHT = 8;
/** What a list item costs beside its text, and each column that it is indented: it stands in so many others. */
const ITEM_WEIGHT = 80;
const INDENT_WEIGHT = 5;
const DEFINITION_WEIGHT = 60;

const WEIGHTS: readonly number[] = Array.from(
  { length: 128 },
  (_, unit) => WEIGHTS_BY_CHARACTER[String.fromCharCode(unit)] ?? 1,
);
/** No character weighs more, with what it may begin. */
const MAX_WEIGHT = 128;
const DEFINITION = /^[ \t>]{0,200}\[[^\]]{1,200}\]:/;
const ITEM = /^[ \t>]{0,200}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const SIMPLE_ROW = /^\|[^\\&<$\t@]*\|$/;

/** About what it costs to parse a line as markdown, in characters of plain prose. */
export function weighLine(line: string): number {
  const cellWeight = SIMPLE_ROW.test(line) ? SIMPLE_CELL_WEIGHT : CELL_WEIGHT;
  return LINE_WEIGHT + reachWeight(line, Infinity, cellWeight).weight;
}

/** The same of a text of several lines. */
export function weighText(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + weighLine(line), 0);
}

/**
 * The length of the shortest beginning of a line that weighs at least `weight`; undefined where all of it weighs less.
 * Depends on that beginning only.
 */
export function lengthOfWeight(line: string, weight: number): number | undefined {
  if (line.length * MAX_WEIGHT < weight) return undefined;
  const reached = reachWeight(line, weight, CELL_WEIGHT);
  return reached.weight >= weight ? reached.length : undefined;
}

function reachWeight(
  line: string,
  limit: number,
  cellWeight: number,
): { readonly weight: number; readonly length: number } {
  let weight = startWeight(line);
  for (let at = 0; at < line.length; at += 1) {
    const unit = line.charCodeAt(at);
    weight += unit === PIPE ? cellWeight : (WEIGHTS[unit] ?? 1);
    if (weight >= limit) return { weight, length: at + 1 };
  }
  return { weight, length: line.length };
}

function startWeight(line: string): number {
  if (ITEM.test(line)) return ITEM_WEIGHT + INDENT_WEIGHT * line.search(/[^ \t]/);
  return DEFINITION.test(line) ? DEFINITION_WEIGHT : 0;
}

const PIPE = 124;
