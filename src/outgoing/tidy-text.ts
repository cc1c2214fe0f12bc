/**
 * Collects visible text and closes the gaps that removals leave: double blank lines, doubled spaces, blanks at the
 * beginning and the end. Other blanks stay as they are.
 *
 * Blanks are held back until something visible follows, so that no text has to be taken back.
 */
export class TidyText {
  readonly #emit: (piece: string) => void;
  /** All text passed on so far. */
  #text = "";
  /** Blanks since the last visible character: before a removal, and after it. */
  #before = "";
  #gap = "";
  #isCut = false;

  constructor(emit: (piece: string) => void) {
    this.#emit = emit;
  }

  get length(): number {
    return this.#text.length;
  }

  get text(): string {
    return this.#text;
  }

  push(text: string): void {
    let first = 0;
    while (first < text.length && isBlank(text, first)) first++;
    this.#gap += text.slice(0, first);
    if (first === text.length) return;
    let last = text.length;
    while (isBlank(text, last - 1)) last--;
    const piece = this.#filled() + text.slice(first, last);
    this.#before = "";
    this.#isCut = false;
    this.#gap = text.slice(last);
    this.#text += piece;
    this.#emit(piece);
  }

  /** Marks the place of a removal. */
  cut(): void {
    this.#before = this.#isCut ? fold(this.#before, this.#gap) : this.#gap;
    this.#isCut = true;
    this.#gap = "";
  }

  /** Removes everything after the first `length` characters. The next text becomes a new paragraph. */
  shorten(length: number): void {
    this.#text = this.#text.slice(0, length);
    this.#before = "\n\n";
    this.#gap = "";
    this.#isCut = true;
  }

  end(): void {
    if (this.#isCut || this.#gap === "") return;
    this.#text += this.#gap;
    this.#emit(this.#gap);
    this.#gap = "";
  }

  #filled(): string {
    if (!this.#isCut) return this.#gap;
    return this.#text === "" ? "" : fold(this.#before, this.#gap);
  }
}

/** Joins two runs of blanks: the larger number of line breaks, at most two, with the indentation of the next line. */
function fold(first: string, second: string): string {
  const breaks = Math.min(2, Math.max(lineBreaks(first), lineBreaks(second)));
  if (breaks === 0) return first === "" ? second : first;
  const indented = second.includes("\n") ? second : first;
  return "\n".repeat(breaks) + indented.slice(indented.lastIndexOf("\n") + 1);
}

function lineBreaks(blanks: string): number {
  return blanks.split("\n").length - 1;
}

function isBlank(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13);
  return code >= 160 && /\s/.test(text.charAt(index));
}
