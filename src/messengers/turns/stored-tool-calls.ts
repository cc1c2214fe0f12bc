import type { ToolCallFacts } from "../../turn/turn-engine-options.ts";
import type { TurnStore } from "../../turn/turn-store.ts";

/** Stored facts about the tool calls of turns. */
export class StoredToolCalls implements ToolCallFacts {
  readonly #turns: TurnStore;

  constructor(turns: TurnStore) {
    this.#turns = turns;
  }

  /** Stores that a tool with an effect is about to run. From now on its turn cannot be withdrawn. */
  begin(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.begunCalls.includes(callId) === false) this.#turns.beginCall(turnId, callId);
  }

  /**
   * Whether a tool call with an effect may have begun. A turn stored by the first release says only that some call has.
   */
  hasBegun(turnId: string, callId: string): boolean {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) return true;
    return turn.begunCalls.includes(callId) || (turn.acted && turn.begunCalls.length === 0);
  }

  /**
   * Stores that the result of a call waits for somebody's decision. Call it in the transaction that stores the action
   * to decide about. When all results of a step wait, the turn ends there, with the text so far.
   */
  park(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.waitingCalls.includes(callId) === false) this.#turns.park(turnId, callId);
  }

  isWaiting(turnId: string, callId: string): boolean {
    return this.#turns.get(turnId)?.waitingCalls.includes(callId) === true;
  }

  /** Ends the turn after this step. Its text so far is its answer. */
  endHere(turnId: string, why: "parking" | "out-of-steps"): void {
    if (this.#turns.get(turnId)?.state === "open") this.#turns.setState(turnId, why);
  }
}
