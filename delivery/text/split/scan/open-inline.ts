import { isCjk, leansOn } from "../parse/cjk-emphasis.ts";

/** A run of `*`, `_` or `~` that may begin formatting and is not closed yet. */
interface Delimiter {
  readonly character: string;
  readonly at: number;
  count: number;
}

interface Bracket {
  readonly at: number;
  /** Number of delimiters that were open before the bracket. */
  readonly depth: number;
}

/** Formatting that is open at the end of a text. `findOpenInline` returns it. */
export interface OpenInline {
  /** Open delimiters in the order of the text. The same `run` closes each. */
  readonly delimiters: readonly { readonly at: number; readonly run: string }[];
  /** A code span that has begun and not ended. */
  readonly code: { readonly at: number; readonly run: string } | undefined;
  /** The `[` of a link or image whose text or address is not complete. */
  readonly bracket: { readonly at: number; readonly textEnd: number | undefined } | undefined;
  /** Start of a run of delimiters at the end of the text, which may be half of a longer run. */
  readonly trailingRun: number | undefined;
}

const PUNCTUATION_OR_SYMBOL = /[\p{P}\p{S}]/u;
const WORD = /[\p{L}\p{N}]/u;

/** Finds the formatting that a reader expects to be closed later. Reads inline markdown from left to right. */
export function findOpenInline(text: string): OpenInline {
  const delimiters: Delimiter[] = [];
  const brackets: Bracket[] = [];
  let trailingRun: number | undefined;
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    if (character === "\\") {
      at += 2;
    } else if (character === "`") {
      const run = runAt(text, at);
      const end = closingBackticks(text, at + run.length, run.length);
      if (end === undefined && run.length <= MAX_CODE_RUN) {
        return result(delimiters, { at, run }, undefined, undefined);
      }
      at = end ?? at + run.length;
    } else if (character === "<") {
      at += /^<[^<>\s][^<>]*>/.exec(text.slice(at, at + MAX_TAG_LENGTH))?.[0].length ?? 1;
    } else if (character === "[") {
      brackets.push({ at, depth: delimiters.length });
      at += 1;
    } else if (character === "]") {
      const bracket = brackets.pop();
      const after = bracket === undefined ? at + 1 : resourceEnd(text, at + 1);
      if (bracket !== undefined && after === undefined) {
        return result(delimiters.slice(0, bracket.depth), undefined, bracket, at);
      }
      if (bracket !== undefined && after !== undefined && after > at + 1) delimiters.splice(bracket.depth);
      at = after ?? at + 1;
    } else if (character === "*" || character === "_" || character === "~") {
      const run = runAt(text, at);
      if (!delimit(text, at, run, delimiters)) trailingRun = at;
      at += run.length;
    } else {
      at += 1;
    }
  }
  return { ...result(delimiters, undefined, brackets.at(-1), undefined), trailingRun };
}

/** Longest run of backticks that opens code before it is closed. A longer run is text. */
const MAX_CODE_RUN = 32;
/** Longest autolink, tag or address to look for. */
const MAX_TAG_LENGTH = 1024;

function result(
  delimiters: readonly Delimiter[],
  code: OpenInline["code"],
  bracket: Bracket | undefined,
  textEnd: number | undefined,
): OpenInline {
  return {
    delimiters: delimiters
      .filter(({ character, count }) => character !== "~" || count === 2)
      .map(({ at, character, count }) => ({ at, run: character.repeat(count) })),
    code,
    bracket: bracket === undefined ? undefined : { at: bracket.at, textEnd },
    trailingRun: undefined,
  };
}

/**
 * Opens or closes formatting with a run of delimiters. Returns false for a run at the end of the text that does
 * neither.
 */
function delimit(text: string, at: number, run: string, delimiters: Delimiter[]): boolean {
  const character = run.charAt(0);
  const before = characterBefore(text, at);
  const end = at + run.length;
  const after = end < text.length ? String.fromCodePoint(text.codePointAt(end) ?? 32) : undefined;
  const next = after ?? " ";
  const isFlanking = character === "*" && (isCjk(before) || isCjk(next)) ? leansOn : isFlankingText;
  const leftFlanking = isFlanking(next, before);
  const rightFlanking = isFlanking(before, next);
  const canClose = rightFlanking && (character !== "_" || !leftFlanking || PUNCTUATION_OR_SYMBOL.test(next));
  const canOpen = leftFlanking && (character !== "_" || !rightFlanking || PUNCTUATION_OR_SYMBOL.test(before));
  let left = run.length;
  if (canClose) left = close(character, left, delimiters);
  if (after === undefined) return left === 0;
  if (left === 0 || !canOpen) return true;
  const insideWord = left === 1 && WORD.test(before);
  if (!insideWord && (character !== "~" || left === 2)) delimiters.push({ character, at, count: left });
  return true;
}

function characterBefore(text: string, at: number): string {
  if (at === 0) return " ";
  const isPair = at > 1 && /[\udc00-\udfff]/.test(text.charAt(at - 1));
  return text.slice(isPair ? at - 2 : at - 1, at);
}

/** Closes open runs of this character. Returns how many delimiters are left. */
function close(character: string, run: number, delimiters: Delimiter[]): number {
  let left = run;
  while (left > 0) {
    const index = delimiters.findLastIndex((open) => open.character === character);
    const open = delimiters[index];
    if (open === undefined) break;
    const used = left >= 2 && open.count >= 2 ? 2 : 1;
    if (character === "~" && used !== 2) break;
    if (used === 1 && open.count === 2 && left === 1) break;
    left -= used;
    open.count -= used;
    delimiters.splice(open.count === 0 ? index : index + 1);
  }
  return left;
}

/**
 * True if CommonMark lets a run between `outside` and `inside` open or close formatting of the text on the side of
 * `inside`.
 */
function isFlankingText(inside: string, outside: string): boolean {
  if (/\s/u.test(inside)) return false;
  return !PUNCTUATION_OR_SYMBOL.test(inside) || /\s/u.test(outside) || PUNCTUATION_OR_SYMBOL.test(outside);
}

function runAt(text: string, at: number): string {
  const character = text.charAt(at);
  let end = at + 1;
  while (text.charAt(end) === character) end += 1;
  return text.slice(at, end);
}

function closingBackticks(text: string, from: number, length: number): number | undefined {
  for (let at = text.indexOf("`", from); at !== -1; at = text.indexOf("`", at)) {
    const run = runAt(text, at);
    at += run.length;
    if (run.length === length) return at;
  }
  return undefined;
}

/**
 * Finds the end of the address or label after a `]`. Returns `from` if there is none, undefined if it is not complete.
 */
function resourceEnd(text: string, from: number): number | undefined {
  const opener = text.charAt(from);
  if (opener === "") return undefined;
  if (opener === "[") {
    const end = text.indexOf("]", from);
    return end === -1 ? undefined : end + 1;
  }
  if (opener !== "(") return from;
  let depth = 0;
  const limit = Math.min(text.length, from + MAX_TAG_LENGTH);
  for (let at = from; at < limit; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth === 0) return at + 1;
    if (character === "\n" && text.charAt(at + 1) === "\n") return from;
  }
  return text.length - from > MAX_TAG_LENGTH ? from : undefined;
}
