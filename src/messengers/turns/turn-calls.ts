import type { TurnStore } from "../../turn/turn-store.ts";

/** What is stored of the tool calls of turns. */
export class TurnCalls {
  readonly #turns: TurnStore;

  constructor(turns: TurnStore) {
    this.#turns = turns;
  }

  /** A tool with an effect is about to run: from now on its turn cannot be withdrawn. */
  begin(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.begunCalls.includes(callId) === false) this.#turns.beginCall(turnId, callId);
  }

  /** Whether a tool with an effect may have run. A turn of the first release says only that some tool has. */
  hasBegun(turnId: string, callId: string): boolean {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) return true;
    return turn.begunCalls.includes(callId) || (turn.acted && turn.begunCalls.length === 0);
  }

  /**
   * The result of a call waits for somebody's decision. Belongs into the transaction that stores what is decided about.
   * When all results of a step wait, the turn ends there, with what was said so far.
   */
  park(turnId: string, callId: string): void {
    const turn = this.#turns.get(turnId);
    if (turn?.waitingCalls.includes(callId) === false) this.#turns.park(turnId, callId);
  }

  isWaiting(turnId: string, callId: string): boolean {
    return this.#turns.get(turnId)?.waitingCalls.includes(callId) === true;
  }

  /** The turn goes no further: what it has said is its answer. */
  endHere(turnId: string): void {
    if (this.#turns.get(turnId)?.state === "open") this.#turns.setState(turnId, "parking");
  }
}
