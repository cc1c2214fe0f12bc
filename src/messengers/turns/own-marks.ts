/**
 * A text of people, without the marks `⟦` and `⟧`: only the application sets them, so that nobody can write something
 * that the model takes for the application's own word.
 */
export function fromPeople(text: string): string {
  return text.replaceAll("⟦", "[[").replaceAll("⟧", "]]");
}
