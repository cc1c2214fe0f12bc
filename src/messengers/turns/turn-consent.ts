/** People's consent to the calls of a turn, given or asked for. */
export interface TurnConsent {
  /** Whether people have agreed to something for which a turn has asked. */
  hasConsent(turnId: string): boolean;
  isAsking(turnId: string): boolean;
  /** The calls of a step of a turn have ended. */
  stepEnded(turnId: string): void;
  /** Takes back the undecided questions of a turn that another one replaces. */
  turnReplaced(turnId: string): void;
}
