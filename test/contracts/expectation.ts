/** What people get in a row. */
export type Expectation =
  /** Less than elsewhere, and the best that the platform or its adapter allows. `words` tell people of it. */
  | { readonly kind: "degraded"; readonly outcome: string; readonly words: string }
  /** Nothing, because the platform or its adapter cannot. */
  | { readonly kind: "cannot"; readonly outcome: string; readonly words: string }
  /** Wrong, and to be mended. */
  | { readonly kind: "broken"; readonly outcome: string; readonly words: string };

/** By the row's key. Rows that are not here work. */
export type Expectations = Readonly<Record<string, Expectation>>;

export interface Contract {
  /** Name of the platform in the documents. */
  readonly title: string;
  readonly expected: Expectations;
}

export const degraded = (outcome: string, words: string): Expectation => ({
  kind: "degraded",
  outcome,
  words,
});
export const cannot = (outcome: string, words: string): Expectation => ({ kind: "cannot", outcome, words });
export const broken = (outcome: string, words: string): Expectation => ({ kind: "broken", outcome, words });
