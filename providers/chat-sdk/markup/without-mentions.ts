const ZERO_WIDTH_SPACE = "\u200b";
/** `@everyone`, `<@…>` and `<!…>`, as Discord and Slack write a mention, and `<users/…>`, as Google Chat does. */
const MENTION = /@(?=everyone|here|channel)|<(?=@|users\/|!(?:channel|here|everyone|group|subteam))/g;
const MENTION_OF_MANY = /<(?=!(?:channel|here|everyone|group|subteam))/g;

/**
 * Breaks mentions with an invisible character, so that the text reads the same and notifies no one. People can make a
 * model write any text. Escaping is not enough: some platforms or adapters still read an escaped mention as one.
 */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, `$&${ZERO_WIDTH_SPACE}`);
}

/** Breaks mentions in code. Only Slack may read mentions there, and people copy code, so less is changed. */
export function withoutMentionsInCode(text: string): string {
  return text.replace(MENTION_OF_MANY, `$&${ZERO_WIDTH_SPACE}`);
}
