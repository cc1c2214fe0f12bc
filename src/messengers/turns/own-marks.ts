/**
 * Removes the marks `⟦` and `⟧` from a text of people. Only the application sets them, so the model never takes a
 * person's text for the application's.
 */
export function fromPeople(text: string): string {
  return text.replaceAll("⟦", "[[").replaceAll("⟧", "]]");
}
