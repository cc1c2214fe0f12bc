import { ENGLISH_TEXTS } from "../core/text/english-texts.ts";
import type { BotTexts, OneText, TextName, TextTable } from "../core/text/bot-texts.ts";

/**
 * Returns the texts of a bot in several languages, by language tag. Each reader gets the own language, or else the first
 * one.
 *
 * @example texts = byLanguage({ en: ENGLISH_TEXTS, de: german });
 */
export function byLanguage(tables: Readonly<Record<string, TextTable>>): BotTexts {
  const names = Object.keys(ENGLISH_TEXTS) as TextName[];
  return Object.fromEntries(
    names.map((name): [TextName, Readonly<Record<string, OneText>>] => [
      name,
      Object.fromEntries(Object.entries(tables).map(([tag, table]) => [tag, table[name]])),
    ]),
  );
}
