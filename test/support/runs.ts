/** Runs of a property: as many as a check can wait for, times `PROPERTY_RUNS` in a search for counterexamples. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: count * Number(process.env["PROPERTY_RUNS"] ?? 1) };
}
