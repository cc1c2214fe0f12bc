/** What a character costs that the parser has to try as the beginning or end of something, beside one of a word. */
const SYNTAX_WEIGHT = 8;
const MAX_SYNTAX_UNIT = 127;

const IS_SYNTAX: readonly boolean[] = Array.from({ length: MAX_SYNTAX_UNIT + 1 }, (_, unit) =>
  "\n*_~`[]()<!&\\$|@".includes(String.fromCharCode(unit)),
);

/** About what it costs to parse a text as markdown, in characters of plain prose. */
export function weighText(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at += 1) {
    if (IS_SYNTAX[text.charCodeAt(at)] === true) weight += SYNTAX_WEIGHT - 1;
  }
  return weight;
}

/** The length of the shortest beginning that weighs at least `weight`; undefined where all of it weighs less. */
export function lengthOfWeight(text: string, weight: number): number | undefined {
  if (text.length * SYNTAX_WEIGHT < weight) return undefined;
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    sum += IS_SYNTAX[text.charCodeAt(at)] === true ? SYNTAX_WEIGHT : 1;
    if (sum >= weight) return at + 1;
  }
  return undefined;
}
