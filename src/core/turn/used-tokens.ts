/** The tokens of one turn, or of one model call outside of turns, for the root. Plain JSON. */
export interface UsedTokens {
  readonly turnId: string;
  readonly messengerId: string;
  readonly chatId: string;
  /** The person whose messages the turn answers. In a channel this is the channel itself. */
  readonly userId: string;
  /** End of the turn, in epoch milliseconds. */
  readonly at: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In the currency of `modelPrices`; 0 for a model without a price. */
  readonly cost: number;
}

/** Narrows and groups the result of `usage()`. */
export interface UsageFilter {
  /** Epoch milliseconds. @default everything that is kept */
  readonly since?: number;
  /** Epoch milliseconds, exclusive. @default now */
  readonly until?: number;
  readonly messengerId?: string;
  readonly chatId?: string;
  readonly userId?: string;
  /** One entry for each value of these. @default ["day", "chat", "person"] */
  readonly by?: readonly ("day" | "chat" | "person")[];
}

/** Use of tokens by one group of turns. */
export interface TokenUsageEntry {
  /** The day in UTC, `2026-11-22`. Only with `by: "day"`. */
  readonly day?: string;
  readonly messengerId: string;
  /** Only with `by: "chat"`. */
  readonly chatId?: string;
  /** Only with `by: "person"`. */
  readonly userId?: string;
  /** Turns, and calls of `ctx.sample` by actions that run outside of turns. */
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** Prices of models by id, for one million tokens each. */
export type ModelPrices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

/** Returns the cost of a model call. 0 if the model has no price. */
export function costOf(
  prices: ModelPrices,
  modelId: string,
  { input = 0, output = 0 }: { readonly input: number | undefined; readonly output: number | undefined },
): number {
  const price = Object.hasOwn(prices, modelId) ? prices[modelId] : undefined;
  return price === undefined ? 0 : (input * price.input + output * price.output) / 1_000_000;
}
