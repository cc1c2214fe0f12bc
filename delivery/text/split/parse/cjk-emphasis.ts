import type { Code, Construct, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

const ASTERISK = 42;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Chinese, Japanese and Korean characters, with their punctuation and fullwidth forms. */
const CJK =
  /[\u1100-\u11ff\u2e80-\u2fff\u3001-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef]/;

/** True if the text has such a character. */
export function isCjk(text: string): boolean {
  return CJK.test(text);
}

/**
 * True if a run of stars, between `inside` and `outside`, may open or close formatting of the text on the side of
 * `inside`.
 *
 * CommonMark expects spaces, which Chinese, Japanese and Korean do not use: it would not close `**注意：**说明`. Here their
 * punctuation counts as a letter, and their letters beside other punctuation count as spaces.
 */
export function leansOn(inside: string, outside: string): boolean {
  if (isSpace(inside)) return false;
  if (!PUNCTUATION.test(inside) || isCjk(inside)) return true;
  return isSpace(outside) || PUNCTUATION.test(outside) || isCjk(outside);
}

function isSpace(character: string): boolean {
  return character === "" || /\s/u.test(character);
}

/**
 * Reads runs of stars beside Chinese, Japanese and Korean characters by `leansOn`. Everything else is left to the
 * parser's own construct.
 */
export const cjkEmphasis: Extension = {
  text: {
    [ASTERISK]: {
      name: "attention",
      tokenize: tokenizeStars,
      resolveAll: (events, context) => ownConstruct(context)?.resolveAll?.(events, context) ?? events,
    },
  },
};

function tokenizeStars(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const before = characterOf(this.previous);
  const own = ownConstruct(this);
  if (own === undefined) return nok;
  return own.tokenize.call(
    this,
    effects,
    (code) => {
      const after = characterOf(code);
      const token = this.events.at(-1)?.[1];
      if (token?.type === "attentionSequence" && (isCjk(before) || isCjk(after))) {
        token._open = leansOn(after, before);
        token._close = leansOn(before, after);
      }
      return ok(code);
    },
    nok,
  );
}

/** Finds the parser's own construct for emphasis. */
function ownConstruct({ parser }: TokenizeContext): Construct | undefined {
  const constructs = [parser.constructs.insideSpan?.null ?? []].flat();
  return constructs.find(isAttention);
}

function isAttention(construct: object): construct is Construct {
  return "name" in construct && construct.name === "attention" && "tokenize" in construct;
}

function characterOf(code: Code): string {
  return code === null || code < 0 ? "" : String.fromCharCode(code);
}
