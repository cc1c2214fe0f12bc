import type { Code, Construct, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

const ASTERISK = 42;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Chinese, Japanese and Korean, with their punctuation and fullwidth forms. */
const CJK =
  /[\u1100-\u11ff\u2e80-\u2fff\u3001-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef]/;

export function isCjk(character: string): boolean {
  return CJK.test(character);
}

/**
 * Whether a run of stars with `outside` on its other side may lean on `inside`. By CommonMark the stars of
 * `**注意：**说明` close nothing, because it takes the space for granted that these scripts do without: so punctuation of
 * theirs counts as a letter, and one of their letters beside other punctuation as a space.
 */
export function leansOn(inside: string, outside: string): boolean {
  if (isSpace(inside)) return false;
  if (!PUNCTUATION.test(inside) || isCjk(inside)) return true;
  return isSpace(outside) || PUNCTUATION.test(outside) || isCjk(outside);
}

function isSpace(character: string): boolean {
  return character === "" || /\s/u.test(character);
}

/** Reads runs of stars beside these scripts by the rule above, and leaves all else to the parser's own construct. */
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

/** The parser's construct for emphasis, which others find in the same place. */
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
