/** How many tokens a model's server counted; `undefined` where it counts none. */
export interface TokenUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
}
