/** Collects text. `prefix` is written before the first character of each line that is not empty. */
export class LineWriter {
  prefix = "";
  #text = "";
  #atLineStart = true;

  get text(): string {
    return this.#text;
  }

  get atLineStart(): boolean {
    return this.#atLineStart;
  }

  write(text: string): void {
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
