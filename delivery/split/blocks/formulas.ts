export interface TextRun {
  readonly text: string;
  readonly isFormula: boolean;
  /** It is meant to stand in a line of its own. */
  readonly isDisplayed: boolean;
}

/** `$$…$$`, `\[…\]`, `\(…\)` and `$…$`: with text right inside of single dollars, and no digit behind. */
const FORMULA = /\$\$([^$]+)\$\$|\\\[([^]+?)\\\]|\\\(([^]+?)\\\)|\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)/g;

/**
 * Cuts text at its formulas, which then stand without their delimiters. Only what stands in the source in the same
 * letters is a formula: otherwise its dollars were escaped, or it was put together from several lines of a quote.
 */
export function cutAtFormulas(text: string, source: string): readonly TextRun[] {
  const runs: TextRun[] = [];
  let at = 0;
  if (/[$\\]/.test(text)) {
    for (const match of text.matchAll(FORMULA)) {
      const expression = (match[1] ?? match[2] ?? match[3] ?? match[4] ?? "").trim();
      if (expression === "" || !source.includes(match[0])) continue;
      if (match.index > at) runs.push(plain(text.slice(at, match.index)));
      const isDisplayed = match[1] !== undefined || match[2] !== undefined;
      runs.push({ text: expression, isFormula: true, isDisplayed });
      at = match.index + match[0].length;
    }
  }
  if (at < text.length) runs.push(plain(text.slice(at)));
  return runs;
}

function plain(text: string): TextRun {
  return { text, isFormula: false, isDisplayed: false };
}
