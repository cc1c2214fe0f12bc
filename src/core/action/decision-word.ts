/** Words that decide about an approval when a person writes one of them in a reply to its card. In lower case. */
export interface ApprovalWords {
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

/** The words that decide unless the bot has its own, in a few languages. None of them means both in any of these. */
export const APPROVAL_WORDS: ApprovalWords = {
  // prettier-ignore
  yes: [
    "yes", "y", "yes please", "ok", "okay", "approve", "approved", "agreed", "go ahead", "do it", "ja", "ja bitte",
    "genehmigt", "oui", "d'accord", "sí", "si", "de acuerdo", "sim", "tak", "zgoda", "да", "согласен", "согласна",
    "так", "evet", "onaylıyorum", "ναι", "हाँ", "はい", "是", "好", "同意", "네", "نعم", "أجل", "موافق", "👍", "✅",
  ],
  // prettier-ignore
  no: [
    "no", "n", "nope", "reject", "rejected", "stop", "don't", "nein", "abgelehnt", "non", "não", "nao", "nie", "нет",
    "ні", "لا", "كلا", "hayır", "όχι", "नहीं", "いいえ", "不", "不要", "不同意", "아니요", "👎", "❌",
  ],
};

/** A decision that somebody has typed. */
export type TypedDecision =
  | { readonly kind: "approve" }
  | { readonly kind: "reject"; readonly reason: string | undefined };

/**
 * Returns the decision that a text is. Only a text that is nothing but a word of consent approves: "yes, but only 50"
 * does not. A reason may follow a refusal, after a comma or the like: "no, that is too much".
 */
export function decisionOf(text: string, { no, yes }: ApprovalWords): TypedDecision | undefined {
  const said = plain(text);
  if (yes.some((word) => plain(word) === said)) return { kind: "approve" };
  if (no.some((word) => plain(word) === said)) return { kind: "reject", reason: undefined };
  const [, first = "", reason = ""] =
    /^([^,.:;!\n–—]{1,30})[,.:;!\n–—]\s*(\S[\s\S]*)$/u.exec(text.trim()) ?? [];
  if (reason === "" || !no.some((word) => plain(word) === plain(first))) return undefined;
  return { kind: "reject", reason: reason.trim() };
}

/** Lower case, without the dots and exclamation marks at the end. Emoji may carry a colour or a style. */
function plain(text: string): string {
  return text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/\uFE0F|\p{Emoji_Modifier}/gu, "")
    .replaceAll("’", "'")
    .replace(/[\s.!。！]+$/u, "")
    .trim();
}
