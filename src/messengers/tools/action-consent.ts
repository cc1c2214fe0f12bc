import type { ActionHost, ActionRequest, ApprovalQuestion } from "../../actions/action-host.ts";
import type { Json } from "../../core/content.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { CallFacts } from "./action-rights.ts";

/** People's consent to calls of actions. Without it a bot can have no action that asks people. */
export interface ActionConsent {
  /** See `ActionHost.ask`. */
  ask(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionHost["ask"]>;
  /** See `ActionHost.useGrant`. */
  useGrant(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionHost["useGrant"]>;
  /** See `ActionHost.endUse`. */
  endUse(request: ActionRequest, output: Json, hadNoEffect: boolean): void;
  /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
}
