/** Options of `skills`. */
export interface SkillsOptions {
  /**
   * Hashes of the skills from outside of the bot's code, by name: of a bucket, of a folder of `serve`, or of the
   * conversation's files. Another one, or one that has changed, is not offered. `switchboard skills add --pin` writes it.
   *
   * @default none: only skills of the bot's code
   */
  readonly lock?: Readonly<Record<string, string>>;
}
