/** Collects text. `prefix` is written before the first character of each line that is not empty. */
export class LineWriter {
  prefix = "";
  #text = "";
  #atLineStart = true;
  #isLineBlank = true;

  get text(): string {
    return this.#text;
  }

  get atLineStart(): boolean {
    return this.#atLineStart;
  }

  /** True if the line has nothing but whitespace so far. */
  get isLineBlank(): boolean {
    return this.#isLineBlank;
  }

  /** Puts a backslash before the last character, if it is this one. */
  escapeEnd(sign: string): void {
    if (this.#text.endsWith(sign)) this.#text = `${this.#text.slice(0, -sign.length)}\\${sign}`;
  }

  write(text: string): void {
    const last = text.slice(text.lastIndexOf("\n") + 1);
    this.#isLineBlank = last.trim() === "" && (this.#isLineBlank || last.length < text.length);
    if (this.prefix === "") {
      this.#text += text;
      this.#atLineStart = text === "" ? this.#atLineStart : text.endsWith("\n");
      return;
    }
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) {
        this.#text += "\n";
        this.#atLineStart = true;
      }
      if (line === "") continue;
      this.#text += this.#atLineStart ? this.prefix + line : line;
      this.#atLineStart = false;
    }
  }
}

export function countLineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
