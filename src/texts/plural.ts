import type { TextValues } from "../core/text/bot-texts.ts";

/** The forms of a text, by the plural rules of its language. */
export type PluralForms<Rule extends Intl.LDMLPluralRule> = Readonly<Record<Rule | "other", string>>;

/** Returns the form of a text that fits `{count}` in a language. */
export function pluralForm(
  language: string,
  { count = 0 }: TextValues,
  forms: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string },
): string {
  return forms[new Intl.PluralRules(language).select(Number(count))] ?? forms.other;
}
