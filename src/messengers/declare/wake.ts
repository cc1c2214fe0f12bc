/** Stored work begins this soon, also after a crash. */
export const HEARTBEAT_MS = 2500;

/** The one durable wake-up of an object, which fires even if the object dies before. */
export interface Wake {
  /** Asks for a run of the loop at this time (epoch milliseconds) at the latest. */
  at(at: number): void;
  /** Notes that nothing has to be done before this time, or ever (`undefined`). */
  putOff(at: number | undefined): void;
}
