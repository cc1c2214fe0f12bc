import type { TurnEvent, TurnStatsEntry } from "./turn-event.ts";

interface Counted {
  beganAt: number | undefined;
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

  hear(event: TurnEvent): void {
    const { at, turnId } = event;
    switch (event.kind) {
      case "turn-begun":
        this.#of(turnId).beganAt = at;
        return;
      case "step-ended":
        if (event.code === undefined) this.#of(turnId).steps += 1;
        return;
      case "tool-begun": {
        const counted = this.#of(turnId);
        counted.toolCalls += 1;
        counted.tools.add(event.tool);
        return;
      }
      case "model-ended": {
        const { cost, usage } = event;
        const counted = this.#of(turnId);
        if (cost > 0) counted.cost = (counted.cost ?? 0) + cost;
        if (usage.input !== undefined) counted.inputTokens = (counted.inputTokens ?? 0) + usage.input;
        if (usage.output !== undefined) counted.outputTokens = (counted.outputTokens ?? 0) + usage.output;
        return;
      }
      default:
    }
  }

  /** Returns when a turn began, in epoch milliseconds. Undefined if that was in an earlier process. */
  beganAt(turnId: string): number | undefined {
    return this.#turns.get(turnId)?.beganAt;
  }

  of(turnId: string): TurnStatsEntry {
    const { beganAt: _beganAt, tools, ...counts } = this.#turns.get(turnId) ?? emptyCount();
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
    beganAt: undefined,
    steps: 0,
    toolCalls: 0,
    tools: new Set(),
    inputTokens: undefined,
    outputTokens: undefined,
    cost: undefined,
  };
}
