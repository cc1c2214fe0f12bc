import { STEP_BREAK } from "../core/turn/step-break.ts";
import { FOREIGN_BLOCK, isThinkingBlock } from "./artefacts.ts";
import type { Meaning } from "./artefacts.ts";
import { CodeFollower } from "./code-follower.ts";
import { mayBeginMarker, readMarker } from "./read-marker.ts";
import type { SilenceSignal } from "./silence.ts";
import { TidyText } from "./tidy-text.ts";

const OWN_HEAD = /^(?:assistant|model)?\s*(?:final)?(?:\s+json)?$/;
const FOREIGN_HEAD =
  /\b(?:to=|analysis\b|commentary\b|thought\b)|^(?:user|system|tool|functions?|developer|ipython|environment|observation)\b(?:[.\w]+|\s+name=\S*)?$/;
/** Longest name of a turn or channel. Anything longer is ordinary text. */
const MAX_HEAD_LENGTH = 128;
/** Shortest marker that is recognized although the text ends inside it. It is removed. */
const MIN_CUT_MARKER_LENGTH = 5;

export interface CleanedTextSink {
  append(piece: string): void;
  /** Keeps only the first `length` characters of the text appended so far. The rest is not for people. */
  shorten(length: number): void;
}

export interface CleanerOptions {
  readonly removeArtefacts: boolean;
  readonly signal: SilenceSignal | undefined;
  /** True while everything appended so far may still become the signal. The sink then decides about it. */
  readonly maySignal: () => boolean;
}

/**
 * - `text`: for people
 * - `block`: not for people
 * - `head`: the name of a turn or channel
 */
type Mode =
  | { readonly kind: "text" }
  | { readonly kind: "block"; readonly block: string }
  | { readonly kind: "head"; readonly name: string };

const TEXT: Mode = { kind: "text" };

/** True for `Promise<Thought>`: a capitalized name directly after a word is not a tag. */
function isTypeParameter(text: string, index: number, last: string): boolean {
  return /\w/.test(last) && /^<[A-Z][a-z]/.test(text.slice(index, index + 3));
}

interface Found {
  readonly length: number;
  /** `ordinary`: text after all. `step`: a `STEP_BREAK`. */
  readonly meaning: Meaning | "ordinary" | "step";
}

function ordinary(length: number): Found {
  return { length, meaning: "ordinary" };
}

/**
 * Removes artefacts from a model's text. The result does not depend on the chunks in which the text arrives.
 *
 * It holds back blanks, the name of a turn, and text that may become a marker: at most the length of one marker.
 */
export class TextCleaner {
  readonly #options: CleanerOptions;
  readonly #sink: CleanedTextSink;
  readonly #tidy: TidyText;
  #code = new CodeFollower();
  #mode: Mode = TEXT;
  /** Text that is not decided yet: the beginning of a marker. */
  #pending = "";
  /** Length of the visible text at the start of this step. */
  #stepLength = 0;
  /** True after the end of a thought in this step. */
  #isThoughtOver = false;
  /** Length of the visible text at the end of that thought. */
  #thoughtEndLength = 0;
  /**
   * Number of further ends to expect, because a thought began inside another one or mentioned its own end in backticks.
   */
  #openThoughts = 0;
  /** Last character that was not for people. */
  #lastHidden = "";
  /** Name of the open answer wrapper. */
  #wrapper: string | undefined;
  /** True while nothing visible has followed a thought. A wrapper can open only there. */
  #mayWrap = false;
  #isStruck = false;
  /** Last character of the visible text, to find the start of a signal that is a word. */
  #lastChar = "";

  constructor(options: CleanerOptions, sink: CleanedTextSink) {
    this.#options = options;
    this.#sink = sink;
    this.#tidy = new TidyText((piece) => sink.append(piece));
  }

  append(delta: string): void {
    this.#read(this.#pending + delta, false);
  }

  end(): void {
    this.#read(this.#pending, true);
    if (this.#mode.kind === "head") this.#endHead(this.#mode.name);
    this.#tidy.end();
  }

  #read(text: string, isEnd: boolean): void {
    this.#pending = "";
    let index = 0;
    /** Start of the visible text that is not passed on yet. */
    let from = 0;
    while (index < text.length) {
      const char = text.charAt(index);
      if (this.#isCandidate(char)) {
        this.#show(text.slice(from, index));
        from = index;
        const found = this.#readAt(text, index, isEnd);
        if (found === "partial") {
          this.#pending = text.slice(index);
          return;
        }
        if (found !== undefined) {
          index += found.length;
          if (found.meaning === "ordinary") this.#follow(text.slice(from, index));
          else this.#apply(found.meaning);
          if (found.meaning !== "ordinary") from = index;
          continue;
        }
      }
      index++;
      if (this.#mode.kind === "text") {
        this.#code.next(char);
      } else {
        if (this.#mode.kind === "head") this.#readHead(this.#mode.name, char);
        this.#lastHidden = char;
        from = index;
      }
    }
    this.#show(text.slice(from));
  }

  #isCandidate(char: string): boolean {
    if (char === STEP_BREAK || (this.#options.removeArtefacts && mayBeginMarker(char))) return true;
    return this.#mode.kind === "text" && this.#options.signal?.mayBegin(char) === true;
  }

  #readAt(text: string, index: number, isEnd: boolean): Found | "partial" | undefined {
    const char = text.charAt(index);
    if (char === STEP_BREAK) return { length: 1, meaning: "step" };
    if (this.#mode.kind === "text") {
      if (this.#code.isProtected()) return undefined;
      const signal = this.#options.signal?.read(text, index, this.#lastChar, isEnd);
      if (signal === "partial") return "partial";
      if (signal !== undefined) {
        if (this.#options.maySignal()) return ordinary(signal);
        return { length: signal, meaning: { kind: "mark" } };
      }
    }
    if (!this.#options.removeArtefacts || !mayBeginMarker(char)) return undefined;
    if (this.#mode.kind === "text" && isTypeParameter(text, index, this.#lastChar)) return undefined;
    const reading = readMarker(text, index);
    if (reading === undefined) return undefined;
    if (reading !== "partial") return this.#takeAsText(reading.meaning) ? ordinary(reading.length) : reading;
    if (!isEnd) return "partial";
    const length = text.length - index;
    return length < MIN_CUT_MARKER_LENGTH ? undefined : { length, meaning: { kind: "mark" } };
  }

  /** Decides whether a marker is ordinary text, from the text before it. Remembers an open strikethrough. */
  #takeAsText(meaning: Meaning): boolean {
    if (this.#mode.kind !== "text") return false;
    if (meaning.kind === "wrapper")
      return meaning.isClosing ? this.#wrapper !== meaning.name : !this.#mayWrap;
    if (meaning.kind !== "strike") return false;
    const wasStruck = this.#isStruck;
    this.#isStruck = !meaning.isClosing;
    return wasStruck || !meaning.isClosing;
  }

  /** Passes on visible text. */
  #show(text: string): void {
    if (text === "" || this.#mode.kind !== "text") return;
    this.#lastChar = text.charAt(text.length - 1);
    if (this.#mayWrap && text.trim() !== "") this.#mayWrap = false;
    this.#tidy.push(text);
  }

  #follow(text: string): void {
    for (const char of text) this.#code.next(char);
  }

  #apply(meaning: Meaning | "step"): void {
    if (meaning === "step") return this.#beginStep();
    switch (this.#mode.kind) {
      case "text":
        return this.#applyInText(meaning);
      case "block":
        return this.#applyInBlock(meaning, this.#mode.block);
      case "head":
        return this.#applyInHead(meaning, this.#mode.name);
    }
  }

  #applyInText(meaning: Meaning): void {
    switch (meaning.kind) {
      case "open":
        this.#openThoughts = 0;
        return this.#hide({ kind: "block", block: meaning.block });
      case "foreign":
        return this.#hide({ kind: "block", block: FOREIGN_BLOCK });
      case "head":
        return this.#hide({ kind: "head", name: "" });
      case "close":
        this.#tidy.cut();
        if (isThinkingBlock(meaning.block)) this.#endLooseThought();
        return;
      case "wrapper":
        this.#wrapper = meaning.isClosing ? undefined : meaning.name;
        return this.#tidy.cut();
      case "strike":
      case "head-end":
      case "end":
      case "mark":
        return this.#tidy.cut();
    }
  }

  #applyInBlock(meaning: Meaning, block: string): void {
    switch (meaning.kind) {
      case "close":
        if (meaning.block !== block) return;
        this.#mode = TEXT;
        if (!isThinkingBlock(block)) return;
        if (this.#lastHidden === "`") this.#openThoughts++;
        this.#thoughtEndLength = this.#tidy.length;
        this.#endThought();
        return;
      case "open":
        if (meaning.block === block) this.#openThoughts++;
        return;
      case "end":
        this.#mode = TEXT;
        return;
      case "head":
        if (!isThinkingBlock(block)) this.#mode = { kind: "head", name: "" };
        return;
      default:
        return;
    }
  }

  #applyInHead(meaning: Meaning, name: string): void {
    switch (meaning.kind) {
      case "head-end":
        return this.#endHead(name);
      case "end":
        this.#mode = TEXT;
        return;
      case "head":
        this.#mode = { kind: "head", name: `${name} ` };
        return;
      default:
        return;
    }
  }

  #readHead(name: string, char: string): void {
    const longer = name + char;
    if (char === "\n" || longer.length >= MAX_HEAD_LENGTH) this.#endHead(longer);
    else this.#mode = { kind: "head", name: longer };
  }

  #endHead(name: string): void {
    this.#mode = TEXT;
    const words = name.trim().toLowerCase();
    if (OWN_HEAD.test(words)) return;
    if (FOREIGN_HEAD.test(words)) {
      this.#mode = { kind: "block", block: FOREIGN_BLOCK };
      return;
    }
    this.#follow(name);
    this.#show(name);
  }

  #hide(mode: Mode): void {
    this.#tidy.cut();
    this.#mode = mode;
  }

  #endThought(): void {
    this.#isThoughtOver = true;
    this.#mayWrap = true;
  }

  /**
   * Ends a thought that is not open. There are two cases:
   * - No thought has ended in this step: the model began thinking without a marker, so all text of this step was
   *   thinking.
   * - A thought had begun inside another one: the text since the first end was thinking.
   */
  #endLooseThought(): void {
    const wasOver = this.#isThoughtOver;
    this.#endThought();
    if (!wasOver) return this.#takeBackTo(this.#stepLength);
    if (this.#openThoughts === 0) return;
    this.#openThoughts--;
    this.#takeBackTo(this.#thoughtEndLength);
  }

  #takeBackTo(length: number): void {
    if (this.#tidy.length === length) return;
    this.#tidy.shorten(length);
    this.#sink.shorten(length);
    this.#code = new CodeFollower();
    this.#lastChar = "";
  }

  #beginStep(): void {
    if (this.#mode.kind === "head") this.#endHead(this.#mode.name);
    this.#mode = TEXT;
    this.#tidy.cut();
    this.#code = new CodeFollower();
    this.#stepLength = this.#tidy.length;
    this.#isThoughtOver = false;
    this.#openThoughts = 0;
    this.#mayWrap = false;
    this.#wrapper = undefined;
    this.#isStruck = false;
    this.#lastChar = "";
  }
}
