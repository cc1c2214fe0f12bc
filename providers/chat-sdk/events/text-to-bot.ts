/** A text and the forms in which it mentions the bot. */
export interface MentioningText {
  readonly text: string;
  readonly mentions: readonly string[];
}

/** Returns the forms in which a text has the mention of an account, unless its adapter writes another one. */
export function usualMentions(
  userName: string | undefined,
  userId: string | undefined,
): MentioningText["mentions"] {
  return [
    ...(userName ? [`@${userName}`] : []),
    ...(userId ? [`<@${userId}>`, `<@!${userId}>`, `@${userId}`] : []),
  ];
}

/**
 * Returns the rest of a text that begins or ends with a mention of the bot. Undefined if it does neither, or if there is
 * no rest. See `MessengerMessage.textToBot`.
 */
export function textToBot({ mentions, text }: MentioningText): string | undefined {
  const said = text.trim();
  const lower = said.toLowerCase();
  for (const mention of mentions.toSorted((one, other) => other.length - one.length)) {
    const name = mention.toLowerCase();
    if (lower.startsWith(name)) {
      const rest = said.slice(name.length);
      // `@bots` is another name.
      if (!isNamePart(rest.slice(0, 1), mention)) return rest.trim().replace(/^[,:]\s*/, "") || undefined;
    }
    if (lower.endsWith(name)) {
      const rest = said.slice(0, said.length - name.length);
      // `ada@bot` is an address.
      if (!/\w$/.test(rest)) return rest.trim().replace(/\s*,$/, "") || undefined;
    }
  }
  return undefined;
}

function isNamePart(next: string, mention: string): boolean {
  return /^[\w-]$/.test(next) && !mention.endsWith(">");
}
