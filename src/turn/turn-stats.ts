import type { TokenUsage } from "../core/token-usage.ts";

/** The use of a turn, as far as this process has counted it. Anything before a restart is missing. */
export interface TurnStatsEntry {
  /** Number of completed model calls. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Names of the called tools, each once, in order, separated by blanks. */
  readonly tools: string | undefined;
  /** Tokens that the model's server counted. Undefined if it counts none. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Cost of the tokens, by `modelPrices`. Undefined if no model has a price. */
  readonly cost: number | undefined;
}

interface Counted {
  steps: number;
  toolCalls: number;
  readonly tools: Set<string>;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cost: number | undefined;
}

/** Number of turns that are remembered. One runs at a time; those of `chat()` may run beside it. */
const MOST_TURNS = 32;

/** Counts the use of turns, for the log. In memory only, because a row for each step would cost too much. */
export class TurnStats {
  readonly #turns = new Map<string, Counted>();

  countStep(turnId: string): void {
    this.#of(turnId).steps += 1;
  }

  countTool(turnId: string, name: string): void {
    const counted = this.#of(turnId);
    counted.toolCalls += 1;
    counted.tools.add(name);
  }

  /** @param cost what these tokens cost; 0 if the model has no price */
  countTokens(turnId: string, { input, output }: TokenUsage, cost = 0): void {
    const counted = this.#of(turnId);
    if (cost > 0) counted.cost = (counted.cost ?? 0) + cost;
    if (input !== undefined) counted.inputTokens = (counted.inputTokens ?? 0) + input;
    if (output !== undefined) counted.outputTokens = (counted.outputTokens ?? 0) + output;
  }

  of(turnId: string): TurnStatsEntry {
    const { tools, ...counts } = this.#turns.get(turnId) ?? emptyCount();
    return { ...counts, tools: tools.size === 0 ? undefined : [...tools].join(" ") };
  }

  #of(turnId: string): Counted {
    const known = this.#turns.get(turnId);
    if (known !== undefined) return known;
    const [oldest] = this.#turns.keys();
    if (oldest !== undefined && this.#turns.size >= MOST_TURNS) this.#turns.delete(oldest);
    const counted = emptyCount();
    this.#turns.set(turnId, counted);
    return counted;
  }
}

function emptyCount(): Counted {
  return {
    steps: 0,
    toolCalls: 0,
    tools: new Set(),
    inputTokens: undefined,
    outputTokens: undefined,
    cost: undefined,
  };
}
