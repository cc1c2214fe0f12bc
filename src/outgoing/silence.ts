import { ConfigurationError } from "../core/base/errors.ts";
import { readMarker } from "./read-marker.ts";

/** Text with which a model says nothing, unless the bot sets another one. */
export const DEFAULT_SILENCE_SIGNAL = "[[silence]]";

const MIN_SIGNAL_LENGTH = 4;
const MAX_SIGNAL_LENGTH = 64;
/** Most marks in front of the signal, and after a signal in backticks. Blanks do not count. */
const MAX_MARKS_BEFORE = 64;
const MAX_MARKS_AFTER = 8;
/** Characters without a meaning of their own: punctuation, blanks, and the marks of markdown. */
const DECORATION = /^[\p{P}\p{Z}\p{Cc}\p{Cf}\p{M}`>~|=+]$/u;
const CLOSING = /^[`*_"'“”‘’«»(){}~\s.,;:!?…。！-]*$/;
/** The number of a list item, and text that may become one. */
const LIST_NUMBER = /^\s*\d{1,2}[.)][ \t]+/;
const LIST_NUMBER_SO_FAR = /^\s*\d{1,2}[.)]?[ \t]*$/;
/** Most blanks inside the signal, between a word and a mark. */
const MAX_BLANKS = 2;

/**
 * Finds the silence signal in a model's text. Letter case does not matter, marks may be escaped, and blanks may be
 * between words and marks. A signal that is a word is not found inside a longer word.
 */
export class SilenceSignal {
  readonly text: string;
  /** Characters of the signal, and the ways each may be written. */
  readonly #characters: readonly {
    readonly lower: string;
    readonly mayBeEscaped: boolean;
    readonly mayFollowBlanks: boolean;
  }[];
  readonly #beginsAsWord: boolean;
  readonly #endsAsWord: boolean;

  /** @throws {ConfigurationError} when the signal is too short or too long, or contains blanks or backticks */
  constructor(text: string) {
    if (text.length < MIN_SIGNAL_LENGTH || text.length > MAX_SIGNAL_LENGTH || /[\s`]/.test(text)) {
      throw new ConfigurationError(
        "invalid-silence-signal",
        `The silence signal "${text}" cannot be used. Choose ${MIN_SIGNAL_LENGTH} to ${MAX_SIGNAL_LENGTH} characters without blanks and backticks that no ordinary text contains, e.g. "${DEFAULT_SILENCE_SIGNAL}".`,
      );
    }
    this.text = text;
    this.#characters = text.split("").map((char, index) => ({
      lower: char.toLowerCase(),
      mayBeEscaped: char !== "\\" && isMark(char),
      mayFollowBlanks: index > 0 && isWord(char) !== isWord(text.charAt(index - 1)),
    }));
    this.#beginsAsWord = isWord(text.charAt(0));
    this.#endsAsWord = isWord(text.charAt(text.length - 1));
  }

  mayBegin(char: string): boolean {
    const first = this.#characters[0];
    return char.toLowerCase() === first?.lower || (char === "\\" && first?.mayBeEscaped === true);
  }

  /**
   * Returns the length of the signal at `start`, or undefined if there is none. Returns `"partial"` if the text ends
   * before that is clear.
   * @param last the character before `start`
   */
  read(text: string, start: number, last: string, isEnd: boolean): number | "partial" | undefined {
    if (this.#beginsAsWord && isWord(last)) return undefined;
    let end = start;
    for (const { lower, mayBeEscaped, mayFollowBlanks } of this.#characters) {
      if (mayFollowBlanks) end = afterBlanks(text, end);
      if (mayBeEscaped && text.charAt(end) === "\\") end++;
      if (end >= text.length) return isEnd ? undefined : "partial";
      if (text.charAt(end).toLowerCase() !== lower) return undefined;
      end++;
    }
    if (!this.#endsAsWord) return end - start;
    if (end === text.length && !isEnd) return "partial";
    return isWord(text.charAt(end)) ? undefined : end - start;
  }
}

function afterBlanks(text: string, start: number): number {
  let end = start;
  while (end - start < MAX_BLANKS && text.charAt(end) === " ") end++;
  return end;
}

/** True if a backslash escapes this character in markdown. */
function isMark(char: string): boolean {
  return /^[!-/:-@[-`{-~]$/.test(char);
}

function isWord(char: string): boolean {
  return /^[\p{L}\p{N}_]$/u.test(char);
}

/**
 * - `undecided`: may still become silence; nothing of it is shown.
 * - `silent`: the model says nothing.
 * - `open`: the text is for people.
 */
export type OpeningState = "undecided" | "silent" | "open";

/**
 * Reads the beginning of a visible text and decides whether the model chose silence.
 *
 * A text that begins with the signal is silence, whatever follows. A signal in backticks must be the whole text,
 * because an ordinary text may begin by explaining the signal.
 */
export class Opening {
  readonly #signal: SilenceSignal | undefined;
  #state: OpeningState;
  #held = "";

  constructor(signal: SilenceSignal | undefined) {
    this.#signal = signal;
    this.#state = signal === undefined ? "open" : "undecided";
  }

  get state(): OpeningState {
    return this.#state;
  }

  /** Adds text. @returns the text that may be shown now */
  push(piece: string): string {
    if (this.#state === "silent") return "";
    if (this.#state === "open" || this.#signal === undefined) return piece;
    this.#held += piece;
    this.#state = judge(this.#held, this.#signal, false);
    return this.#state === "open" ? this.#release() : "";
  }

  /** Ends the text. @returns the text that was held back and is shown after all */
  end(): string {
    if (this.#state !== "undecided" || this.#signal === undefined) return "";
    this.#state = judge(this.#held, this.#signal, true);
    return this.#state === "open" ? this.#release() : "";
  }

  /** Returns an opening that has read only the first `length` characters of the text so far. */
  shortened(length: number): Opening {
    if (length > 0 && this.#state !== "undecided") return this;
    const shorter = new Opening(this.#signal);
    shorter.push(this.#held.slice(0, length));
    return shorter;
  }

  #release(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

function judge(held: string, signal: SilenceSignal, isEnd: boolean): OpeningState {
  const decoration = leadingDecoration(held, signal);
  const start = decoration.length;
  if (!isEnd && LIST_NUMBER_SO_FAR.test(held)) return "undecided";
  if (decoration.trim().length > MAX_MARKS_BEFORE) return "open";
  if (start === held.length && !isEnd) return "undecided";
  const length = signal.read(held, start, "", isEnd);
  if (length === "partial") return "undecided";
  if (length === undefined) return "open";
  if (!decoration.includes("`")) return "silent";
  const rest = held.slice(start + length);
  if (!CLOSING.test(rest) || rest.trim().length > MAX_MARKS_AFTER) return "open";
  return isEnd ? "silent" : "undecided";
}

function leadingDecoration(text: string, signal: SilenceSignal): string {
  let length = LIST_NUMBER.exec(text)?.[0].length ?? 0;
  while (length < text.length) {
    const char = text.charAt(length);
    if (signal.mayBegin(char) && signal.read(text, length, "", false) !== undefined) break;
    const wrapperLength = openingWrapperLength(text, length);
    if (wrapperLength === 0 && !DECORATION.test(char)) break;
    length += Math.max(1, wrapperLength);
  }
  return text.slice(0, length);
}

/** Length of an opening wrapper at `start`, such as `<answer>`, or of text that may become one. 0 if there is none. */
function openingWrapperLength(text: string, start: number): number {
  const marker = text.charAt(start) === "<" ? readMarker(text, start) : undefined;
  if (marker === "partial") return text.length - start;
  return marker?.meaning.kind === "wrapper" && !marker.meaning.isClosing ? marker.length : 0;
}

/**
 * Tells the model how to say nothing. Add it to the system prompt of chats in which silence is an answer.
 *
 * Returns undefined if silence is switched off.
 * @throws {ConfigurationError} when the signal cannot be used
 */
export function silencePrompt(options: {
  readonly silence?: { readonly signal?: string } | false;
}): string | undefined {
  const signal = silenceSignal(options.silence);
  if (signal === undefined) return undefined;
  return `When no reply from you is needed or wanted (people talk among themselves, or your answer would add nothing), reply with exactly ${signal.text} and nothing else: then nobody is shown anything. Never mention ${signal.text} in any other reply.`;
}

/**
 * Returns the signal to look for; undefined if silence is switched off.
 * @throws {ConfigurationError} when the signal cannot be used
 */
export function silenceSignal(
  silence: { readonly signal?: string } | false | undefined,
): SilenceSignal | undefined {
  return silence === false ? undefined : new SilenceSignal(silence?.signal ?? DEFAULT_SILENCE_SIGNAL);
}
