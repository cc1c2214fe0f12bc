import { untilAborted } from "../../core/time/until-aborted.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";

/** The operations that run now, at most one in each session, and the signals that stop them. */
export class RunningOperations {
  readonly #inTurn: TurnEngineOptions["inTurn"];
  readonly #bySession = new Map<string, string>();
  /** Ends the wait for the bot's code when a running operation must end. */
  readonly #aborts = new Map<string, AbortController>();

  constructor({ inTurn }: Pick<TurnEngineOptions, "inTurn">) {
    this.#inTurn = inTurn;
  }

  started(session: string, operationId: string): void {
    this.#bySession.set(session, operationId);
    this.#aborts.set(operationId, new AbortController());
  }

  ended(session: string, operationId: string): void {
    this.#bySession.delete(session);
    this.#aborts.delete(operationId);
  }

  /** Returns the operation that runs in a session. */
  in(session: string): string | undefined {
    return this.#bySession.get(session);
  }

  /** Returns the signal that stops a running operation. Undefined if it does not run. */
  signalOf(operationId: string): AbortSignal | undefined {
    return this.#aborts.get(operationId)?.signal;
  }

  /** Returns the signal that stops whatever runs in a session. Undefined if nothing does. */
  signalIn(session: string): AbortSignal | undefined {
    return this.signalOf(this.in(session) ?? "");
  }

  stop(operationId: string): void {
    this.#aborts.get(operationId)?.abort();
  }

  /** Waits for work. Rejects as soon as the session's operation is stopped. */
  untilStopped<T>(session: string, work: T | Promise<T>): T | Promise<T> {
    return untilAborted(this.signalIn(session), work, stopped);
  }

  /**
   * Runs code in the session's turn. If the turn is stopped in the meantime, it returns `instead`, because the harness
   * would log an error.
   */
  async unlessStopped<T, Instead>(
    session: string,
    body: () => T,
    instead: Instead,
  ): Promise<Awaited<T> | Instead> {
    const signal = this.signalIn(session);
    try {
      return await untilAborted(signal, this.#inTurnOf(session, body), stopped);
    } catch (error) {
      if (signal?.aborted === true) return instead;
      throw error;
    }
  }

  #inTurnOf<T>(session: string, body: () => T): T {
    const operationId = this.in(session);
    return operationId === undefined ? body() : this.#inTurn(operationId, body);
  }
}

function stopped(): Error {
  return new Error("The turn was stopped.");
}
