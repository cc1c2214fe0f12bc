/** A text and the forms in which it mentions the bot. */
export interface MentioningText {
  readonly text: string;
  readonly mentions: readonly string[];
  /** Whether the platform has taken the text for a command of the bot. @default false */
  readonly isSlashCommand?: boolean;
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
  for (const mention of mentions.toSorted((one, other) => other.length - one.length)) {
    const { length } = mention;
    const isName = (part: string): boolean => part.toLowerCase() === mention.toLowerCase();
    if (isName(said.slice(0, length))) {
      const rest = said.slice(length);
      // `@bots` is another name.
      if (!isNamePart(rest.slice(0, 1), mention)) return rest.trim().replace(/^[,:]\s*/, "") || undefined;
    }
    if (isName(said.slice(-length))) {
      const rest = said.slice(0, -length);
      // `ada@bot` is an address.
      if (!/\w$/.test(rest)) return rest.trim().replace(/\s*,$/, "") || undefined;
    }
  }
  return undefined;
}

function isNamePart(next: string, mention: string): boolean {
  return /^[\w-]$/.test(next) && !mention.endsWith(">");
}
