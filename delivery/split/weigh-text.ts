/** What a character costs that the parser has to try as the beginning or end of something, beside one of a word. */
const SYNTAX_WEIGHT = 8;
const CELL_WEIGHT = 3;

const WEIGHTS: readonly number[] = Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (character === "|") return CELL_WEIGHT;
  return "\n*_~`[]()<!&\\$@".includes(character) ? SYNTAX_WEIGHT : 1;
});

/** About what it costs to parse a text as markdown, in characters of plain prose. */
export function weighText(text: string): number {
  let weight = 0;
  for (let at = 0; at < text.length; at += 1) weight += WEIGHTS[text.charCodeAt(at)] ?? 1;
  return weight;
}

/** The length of the shortest beginning that weighs at least `weight`; undefined where all of it weighs less. */
export function lengthOfWeight(text: string, weight: number): number | undefined {
  if (text.length * SYNTAX_WEIGHT < weight) return undefined;
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    sum += WEIGHTS[text.charCodeAt(at)] ?? 1;
    if (sum >= weight) return at + 1;
  }
  return undefined;
}
