import type { TokenUsage } from "./token-usage.ts";

/** Tokens and money of turns. */
export interface TurnCost extends TokenUsage {
  /** In the currency of `modelPrices`. Undefined if no model that was called has a price. */
  readonly cost?: number | undefined;
}

/** Returns the sum of tokens and money. Undefined if there are none. */
export function sumOfCosts(all: readonly (TurnCost | undefined)[]): TurnCost | undefined {
  const used = all.filter((one) => one !== undefined);
  if (used.length === 0) return undefined;
  const sum = (of: (one: TurnCost) => number | undefined): number =>
    used.reduce((total, one) => total + (of(one) ?? 0), 0);
  const cost = sum((one) => one.cost);
  return {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    ...(cost > 0 && { cost }),
  };
}
