/** A number as people of a language write it. Without a language it has no marks of groups. */
export function shownNumber(value: number, language: string | undefined): string {
  if (language === undefined) return String(value);
  try {
    return new Intl.NumberFormat(language, { maximumFractionDigits: 12 }).format(value);
  } catch {
    // A platform may tell a language that the runtime does not know.
    return String(value);
  }
}
