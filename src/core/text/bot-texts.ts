import { ENGLISH_TEXTS } from "./english-texts.ts";
import { inLanguage, type LocalText } from "./local-text.ts";

/** Name of a text. */
export type TextName = keyof typeof ENGLISH_TEXTS;

/** Values of a text, by the names that it has in braces. */
export type TextValues = Readonly<Record<string, string | number>>;

/** A text in one language. A function can choose words by a number, and returns the text with its braces or without. */
export type OneText = string | ((values: TextValues) => string);

/** All texts in one language, such as `german` of `switchboard/texts`. */
export type TextTable = Readonly<Record<TextName, OneText>>;

/** A bot's own words for texts of Switchboard, in one language or in several by language tag. Others stay in English. */
export type BotTexts = Readonly<Partial<Record<TextName, OneText | Readonly<Record<string, OneText>>>>>;

/** Returns a text with its values filled in. */
export type Say = (name: TextName, values?: TextValues) => string;

/** Returns the texts for a reader of this language. Undefined if the platform does not tell it. */
export function sayIn(texts: BotTexts, language: string | undefined): Say {
  return (name, values = {}) => {
    const text = templateOf(inLanguage<OneText>(texts[name] ?? ENGLISH_TEXTS[name], language), name, values);
    return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole));
  };
}

/** Returns the texts of a bot in the language of a person. */
export function sayTo(
  { texts = {} }: { readonly texts?: BotTexts },
  person: { readonly language?: string | undefined } | undefined,
): Say {
  return sayIn(texts, person?.language);
}

/** A function of the bot that fails must not keep a card from being drawn. */
function templateOf(text: OneText, name: TextName, values: TextValues): string {
  if (typeof text === "string") return text;
  try {
    return text(values);
  } catch {
    return ENGLISH_TEXTS[name];
  }
}

/** Returns a text without values in all of its languages. */
export function localText(texts: BotTexts, name: TextName): LocalText {
  const text = texts[name] ?? ENGLISH_TEXTS[name];
  if (typeof text !== "object") return templateOf(text, name, {});
  const versions = Object.entries(text).map(([tag, one]) => [tag, templateOf(one, name, {})]);
  return Object.fromEntries(versions) as LocalText;
}

/** The texts in English. */
export const sayEnglish: Say = sayIn({}, undefined);
