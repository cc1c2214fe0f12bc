const ZERO_WIDTH_SPACE = "\u200b";
/** `@everyone`, `<@…>` and `<!…>`, as Discord and Slack write a mention. */
const MENTION = /@(?=everyone|here|channel)|<(?=@|!(?:channel|here|everyone|group|subteam))/g;
const MENTION_OF_MANY = /<(?=!(?:channel|here|everyone|group|subteam))/g;

/**
 * Text that alarms nobody, although it reads the same: people can make a model write any text, and an escaped mention
 * is one for some platforms, or becomes one again in their adapter.
 */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, `$&${ZERO_WIDTH_SPACE}`);
}

/** The same for code, in which only Slack may look for mentions, and that is copied. */
export function withoutMentionsInCode(text: string): string {
  return text.replace(MENTION_OF_MANY, `$&${ZERO_WIDTH_SPACE}`);
}
