import type { ActionHost, ActionRequest, ApprovalQuestion } from "../../actions/runs/action-host.ts";
import type { Json } from "../../core/message/content.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { CallFacts } from "./action-rights.ts";

/** A question from inside an action, as a system shows it to its person. */
export interface AskedForm {
  /** An answer names it. */
  readonly questionId: string;
  /** JSON Schema: a flat object of plain values. */
  readonly schema: Json;
}

/** The state of a question about a call of another system. Times are epoch milliseconds. */
export type AskedCall =
  | {
      readonly kind: "waiting";
      /** The question in words, with every input. */
      readonly question: string;
      /** Whether the system itself asks its person, and no chat does. */
      readonly isAskedByCaller: boolean;
      /** The form that it shows then. Undefined: it asks for consent. */
      readonly form?: AskedForm | undefined;
      /** Whether the action has begun, and asks from inside. @default false */
      readonly hasBegun?: boolean;
    }
  | { readonly kind: "running" }
  | {
      readonly kind: "ended";
      readonly endedAt: number;
      readonly isWithdrawn: boolean;
      /** Whether the action has run. @default false */
      readonly hasRun?: boolean;
      /** Its output, or `{ error }` if it has failed or did not run. */
      readonly output: Json;
    };

/** The person for whom a system calls, and the name of the system. */
export interface SystemCaller {
  readonly name: string;
  readonly person: MessengerAuthor | undefined;
  readonly messengerId: string | undefined;
}

/** People's consent to calls of actions. Without it a bot can have no action that asks people. */
export interface ActionConsent {
  /** See `ActionHost.ask`. */
  ask(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionHost["ask"]>;
  /** See `ActionHost.useGrant`. */
  useGrant(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionHost["useGrant"]>;
  /** See `ActionHost.endUse`. */
  endUse(request: ActionRequest, output: Json, hadNoEffect: boolean): void;
  /**
   * Takes the outcome of a call that has asked people while it ran. Returns `false` if nobody had to agree to it. Called in
   * a transaction.
   */
  callEnded(requestId: string, toolCallId: string, output: Json): boolean;
  /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
  /** Tells whether the person for whom a system calls may decide, so that the system may ask that person itself. */
  mayAnswer(question: ApprovalQuestion, facts: CallFacts): Promise<boolean>;
  /** Takes what the person for whom a system calls has decided there. Ignored if that person may not decide. */
  answer(approvalId: string, decision: "approve" | "reject" | "withdraw", by: SystemCaller): Promise<void>;
  /** Returns the state of a question. Undefined if it is not kept any more. */
  stateOf(approvalId: string): AskedCall | undefined;
}
