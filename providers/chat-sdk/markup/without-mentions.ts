const ZERO_WIDTH_SPACE = "\u200b";
/** `@everyone`, `<@…>` and `<!…>`, as Discord and Slack write a mention, and `<users/…>`, as Google Chat does. */
const MENTION = /@(?=everyone|here|channel)|<(?=@|users\/|!(?:channel|here|everyone|group|subteam))/g;
/** `@name` and `@organization/team`. A sign before the `@` is no part of an address of e-mail. */
const NAME = /(?<!\w)@(?=\w)/g;
const MENTION_IN_CODE = /<(?=users\/|!(?:channel|here|everyone|group|subteam))/g;

/**
 * Breaks mentions with an invisible character, so that the text reads the same and notifies no one. People can make a
 * model write any text. Escaping is not enough: some platforms or adapters still read an escaped mention as one.
 */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, `$&${ZERO_WIDTH_SPACE}`);
}

/** Also breaks bare names, for platforms and adapters that read a mention in any `@name`: GitHub, Slack, Discord. */
export function withoutNames(text: string): string {
  return withoutMentions(text).replace(NAME, `@${ZERO_WIDTH_SPACE}`);
}

/**
 * Breaks mentions in code. Only Slack and Google Chat may read mentions there, and people copy code, so less is changed.
 */
export function withoutMentionsInCode(text: string): string {
  return text.replace(MENTION_IN_CODE, `$&${ZERO_WIDTH_SPACE}`);
}
