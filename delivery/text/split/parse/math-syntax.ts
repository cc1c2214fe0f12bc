import type { Code, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

const DOLLAR = 36;
const LEFT_PARENTHESIS = 40;
const RIGHT_PARENTHESIS = 41;
const LEFT_BRACKET = 91;
const BACKSLASH = 92;
const RIGHT_BRACKET = 93;

/**
 * Leaves formulas as they are written: `$x_1$`, `$$ ... $$`, `\( ... \)` and `\[ ... \]`. Inside them nothing is
 * formatting, and no backslash is an escape.
 *
 * A single dollar opens or closes a formula only if text touches it on the inside and no digit follows it. Prices are
 * therefore ordinary text.
 */
export const mathSyntax: Extension = {
  text: {
    [DOLLAR]: { name: "dollarMath", tokenize: tokenizeDollars },
    [BACKSLASH]: { name: "backslashMath", tokenize: tokenizeBackslash },
  },
};

/** A state that reads one character of a formula. The text becomes data, with line endings between. */
type Reader = (code: Code) => State | undefined;

function tokenizeDollars(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  let size = 0;
  let run = 0;
  let last: Code = null;
  const read: Reader = (code) => {
    if (code === DOLLAR) return closing(code);
    if (code === null || (isLineEnding(code) && size === 1)) return nok(code);
    last = code;
    return take(effects, code, read);
  };
  const closing: Reader = (code) => {
    if (code === DOLLAR && run < size) {
      run += 1;
      effects.consume(code);
      return closing;
    }
    const isClosed = run === size && (size === 2 || (!isSpace(last) && !isDigit(code)));
    if (isClosed) {
      effects.exit("data");
      return ok(code);
    }
    run = 0;
    last = DOLLAR;
    return size === 1 ? nok(code) : read(code);
  };
  const opening: Reader = (code) => {
    if (code === DOLLAR && size < 2) {
      size += 1;
      effects.consume(code);
      return opening;
    }
    return code === DOLLAR || code === null || (size === 1 && isSpace(code)) ? nok(code) : read(code);
  };
  return function start(code) {
    effects.enter("data");
    return opening(code);
  };
}

/** Closers that a text does not contain. They are searched once only. */
const withoutCloser = new WeakMap<TokenizeContext, Set<number>>();

function tokenizeBackslash(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const missing = withoutCloser.get(this) ?? new Set<number>();
  withoutCloser.set(this, missing);
  let closer = RIGHT_PARENTHESIS;
  // Ordinary text escapes brackets too, so the text between them must look like a formula.
  let isMath = false;
  const read: Reader = (code) => {
    if (code === null) {
      missing.add(closer);
      return nok(code);
    }
    if (code === BACKSLASH) {
      effects.consume(code);
      return afterBackslash;
    }
    isMath ||= MATH_SIGNS.has(code);
    return take(effects, code, read);
  };
  const afterBackslash: Reader = (code) => {
    if (code === null) return read(code);
    if (code !== closer) {
      isMath = true;
      return take(effects, code, read);
    }
    if (!isMath) return nok(code);
    effects.consume(code);
    effects.exit("data");
    return ok;
  };
  const opening: Reader = (code) => {
    if (code !== LEFT_PARENTHESIS && code !== LEFT_BRACKET) return nok(code);
    closer = code === LEFT_BRACKET ? RIGHT_BRACKET : RIGHT_PARENTHESIS;
    isMath = code === LEFT_PARENTHESIS;
    if (missing.has(closer)) return nok(code);
    effects.consume(code);
    return read;
  };
  return function start(code) {
    effects.enter("data");
    effects.consume(code);
    return opening;
  };
}

/** `+`, `=`, `^` and `_`. */
const MATH_SIGNS: ReadonlySet<Code> = new Set([43, 61, 94, 95]);

function take(effects: Effects, code: Code, next: State): State {
  if (!isLineEnding(code)) {
    effects.consume(code);
    return next;
  }
  effects.exit("data");
  effects.enter("lineEnding");
  effects.consume(code);
  effects.exit("lineEnding");
  effects.enter("data");
  return next;
}

function isLineEnding(code: Code): boolean {
  return code !== null && code < -2;
}

function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === 32;
}

function isDigit(code: Code): boolean {
  return code !== null && code >= 48 && code <= 57;
}
