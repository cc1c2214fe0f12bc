/**
 * A text in one language, or in several by language tag: `{ en: "Opening hours", de: "Öffnungszeiten" }`. Readers of any
 * other language get the first one.
 */
export type LocalText = string | Readonly<Record<string, string>>;

/** Returns a text for a reader: in exactly this language, in its main language (`pt` for `pt-BR`), or the first one. */
export function inLanguage<One = string>(
  text: One | Readonly<Record<string, One>>,
  language: string | undefined,
): One {
  if (!isByLanguage(text)) return text;
  const entries = Object.entries(text);
  const wanted = language?.toLowerCase() ?? "";
  const find = (tag: string): One | undefined => entries.find(([key]) => key.toLowerCase() === tag)?.[1];
  return find(wanted) ?? find(mainLanguage(wanted)) ?? entries[0]?.[1] ?? ("" as One);
}

function isByLanguage<One>(text: One | Readonly<Record<string, One>>): text is Readonly<Record<string, One>> {
  return typeof text === "object";
}

/** Returns the two-letter languages of a text, in which a platform may offer it. */
export function languagesOf(text: LocalText): string[] {
  if (typeof text === "string") return [];
  const languages = Object.keys(text).map((tag) => mainLanguage(tag.toLowerCase()));
  return [...new Set(languages)].filter((language) => /^[a-z]{2}$/.test(language));
}

function mainLanguage(tag: string): string {
  return tag.split(/[-_]/, 1)[0] ?? "";
}
