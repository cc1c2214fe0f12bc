/** Tokens that a model's server counted. Undefined if it does not count them. */
export interface TokenUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
}
