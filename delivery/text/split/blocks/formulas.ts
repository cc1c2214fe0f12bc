export interface TextRun {
  readonly text: string;
  readonly isFormula: boolean;
  /** True if the formula is meant to have a line of its own. */
  readonly isDisplayed: boolean;
}

const OPENER = /\$\$?|\\[([]/g;

/**
 * Cuts text at its formulas and removes their delimiters: `$$…$$`, `\[…\]`, `\(…\)`, and `$…$` in one line, with text
 * touching both dollars and no digit after them.
 *
 * A formula must appear in `source` in the same characters. Otherwise its dollars were escaped, or it was put together
 * from several lines of a quote.
 */
export function cutAtFormulas(text: string, source: string): readonly TextRun[] {
  if (!/[$\\]/.test(text)) return text === "" ? [] : [plain(text)];
  const runs: TextRun[] = [];
  const closers = new Closers(text);
  let at = 0;
  let inSource = 0;
  OPENER.lastIndex = 0;
  for (let match = OPENER.exec(text); match !== null; match = OPENER.exec(text)) {
    const [opener] = match;
    const end = closers.endOf(opener, match.index);
    const whole = end === undefined ? "" : text.slice(match.index, end);
    const expression = whole.slice(opener.length, -opener.length).trim();
    const found = expression === "" ? -1 : source.indexOf(whole, inSource);
    if (end === undefined || found === -1) {
      OPENER.lastIndex = match.index + 1;
      continue;
    }
    if (match.index > at) runs.push(plain(text.slice(at, match.index)));
    const isDisplayed = opener === "$$" || opener === "\\[";
    runs.push({ text: expression, isFormula: true, isDisplayed });
    at = end;
    inSource = found + whole.length;
    OPENER.lastIndex = end;
  }
  if (at < text.length) runs.push(plain(text.slice(at)));
  return runs;
}

/** Finds the ends of formulas. A closer that the text does not contain is searched only once. */
class Closers {
  readonly #text: string;
  readonly #missing = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Finds the end of the formula that begins at `from`, after its closer. */
  endOf(opener: string, from: number): number | undefined {
    const text = this.#text;
    const inside = from + opener.length;
    if (opener.startsWith("\\")) return this.#find(opener === "\\[" ? "\\]" : "\\)", inside);
    const end = this.#find("$", inside);
    if (end === undefined || end - 1 === inside) return undefined;
    if (opener === "$$") return text.charAt(end) === "$" ? end + 1 : undefined;
    const formula = text.slice(inside, end - 1);
    const isFormula = formula.trim() === formula && !formula.includes("\n") && !/\d/.test(text.charAt(end));
    return isFormula ? end : undefined;
  }

  #find(closer: string, from: number): number | undefined {
    if (this.#missing.has(closer)) return undefined;
    const at = this.#text.indexOf(closer, from);
    if (at !== -1) return at + closer.length;
    this.#missing.add(closer);
    return undefined;
  }
}

function plain(text: string): TextRun {
  return { text, isFormula: false, isDisplayed: false };
}
