const FENCE_PREFIX = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/;
const MAY_PRECEDE_FENCE = " \t>-*+.)0123456789";
const MAX_PREFIX_LENGTH = 64;

interface Fence {
  readonly mark: string;
  readonly length: number;
  /** Text before the fence on its line: indentation, quote markers, a list's bullet. */
  readonly prefix: string;
  readonly quoteDepth: number;
}

/**
 * Follows markdown character by character and knows which of it is code: fenced blocks, also in lists and quotes, and
 * inline spans.
 *
 * A span ends with its line, so that a single backtick does not turn the rest of the text into code.
 */
export class CodeFollower {
  #fence: Fence | undefined;
  /** Number of backticks that opened the span; 0 outside a span. */
  #span = 0;
  /** The line so far, while it may still be the text before a fence. */
  #prefix: string | undefined = "";
  /** The character of the run of backticks or tildes that is being read. */
  #runMark = "";
  #runLength = 0;
  #isOpeningLine = false;
  #isClosingLine = false;
  #isEscaped = false;

  next(char: string): void {
    if (char === this.#runMark) {
      this.#runLength++;
      return;
    }
    this.#endRun();
    if (char === "\n") {
      this.#endLine();
    } else if (this.#isEscaped) {
      this.#isEscaped = false;
      this.#prefix = undefined;
    } else if (char === "`" || char === "~") {
      this.#runMark = char;
      this.#runLength = 1;
    } else {
      this.#ordinary(char);
    }
  }

  /**
   * True if the next character is in code or escaped. Call it only before a character that is not a blank or a
   * backtick.
   */
  isProtected(): boolean {
    this.#endRun();
    this.#leaveQuote();
    return this.#isEscaped || this.#span > 0 || (this.#fence !== undefined && !this.#isClosingLine);
  }

  /** Returns the line that closes the open fence; undefined if no fence is open. */
  closingFence(): string | undefined {
    this.#endRun();
    if (this.#fence === undefined || this.#isClosingLine) return undefined;
    const { length, mark, prefix } = this.#fence;
    return prefix.replace(/[^>\s]/g, " ") + mark.repeat(length);
  }

  #ordinary(char: string): void {
    const isBlank = char === " " || char === "\t";
    if (this.#fence === undefined) {
      this.#isEscaped = char === "\\" && this.#span === 0;
      this.#extendPrefix(char, MAY_PRECEDE_FENCE);
      return;
    }
    if (!isBlank) this.#isClosingLine = false;
    if (!isBlank && char !== ">") {
      this.#leaveQuote();
      if (this.#fence === undefined) return this.#ordinary(char);
    }
    this.#extendPrefix(char, " \t>");
  }

  #extendPrefix(char: string, allowed: string): void {
    if (this.#prefix === undefined) return;
    this.#prefix =
      allowed.includes(char) && this.#prefix.length < MAX_PREFIX_LENGTH ? this.#prefix + char : undefined;
  }

  #endRun(): void {
    if (this.#runMark === "") return;
    const mark = this.#runMark;
    const length = this.#runLength;
    this.#runMark = "";
    this.#runLength = 0;
    this.#leaveQuote();
    const prefix = this.#prefix;
    this.#prefix = undefined;
    if (this.#fence !== undefined) {
      this.#endRunInFence(this.#fence, mark, length, prefix);
    } else if (this.#span > 0) {
      if (mark === "`" && length === this.#span) this.#span = 0;
    } else if (prefix !== undefined && length >= 3 && FENCE_PREFIX.test(prefix)) {
      this.#fence = { mark, length, prefix, quoteDepth: quoteDepth(prefix) };
      this.#isOpeningLine = true;
    } else if (mark === "`") {
      this.#span = length;
    }
  }

  #endRunInFence(fence: Fence, mark: string, length: number, prefix: string | undefined): void {
    this.#isClosingLine =
      !this.#isOpeningLine && prefix !== undefined && mark === fence.mark && length >= fence.length;
    if (this.#isOpeningLine && mark === "`" && fence.mark === "`") {
      // More backticks in the opening line: it was a span.
      this.#fence = undefined;
      this.#isOpeningLine = false;
      this.#span = length === fence.length ? 0 : fence.length;
    }
  }

  /** Closes a fence whose quote has ended. */
  #leaveQuote(): void {
    if (this.#fence === undefined || this.#prefix === undefined || this.#isOpeningLine) return;
    if (quoteDepth(this.#prefix) < this.#fence.quoteDepth) this.#fence = undefined;
  }

  #endLine(): void {
    this.#leaveQuote();
    if (this.#isClosingLine) this.#fence = undefined;
    this.#isClosingLine = false;
    this.#isOpeningLine = false;
    this.#isEscaped = false;
    this.#span = 0;
    this.#prefix = "";
  }
}

function quoteDepth(prefix: string): number {
  let depth = 0;
  for (const char of prefix) if (char === ">") depth++;
  return depth;
}
