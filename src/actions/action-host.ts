import type { ModelMessage } from "ai";
import type { ApprovalPreview } from "../core/approval-preview.ts";
import type { ApprovalRisk } from "../core/approval-risk.ts";
import type { Json } from "../core/content.ts";
import type { Clock } from "../core/deps.ts";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { Action, ActionContext } from "./action.ts";
import type { ActionLedger } from "./ledger.ts";

/** One call of an action by the model. */
export interface ActionRequest {
  readonly name: string;
  readonly action: Action;
  readonly input: unknown;
  readonly requestId: string;
  readonly toolCallId: string;
  readonly messages: readonly ModelMessage[];
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal | undefined;
  /** Set if somebody has agreed to the call. Nobody is asked again. */
  readonly consent?: Consent | undefined;
}

/** An agreement to one call. It counts for exactly this input, under this key of the ledger. */
export interface Consent {
  readonly approver: MessengerAuthor | undefined;
  readonly inputHash: string;
  readonly ledgerKey: string;
}

/** Functions of the object that a call needs. */
export interface ActionHost {
  readonly clock: Clock;
  /** Name of the object, and of its present life. */
  readonly claimant: string;
  readonly process: string;
  /** `actionLedgerPendingRetryLeaseMs` of the bot. `false`: an interrupted run is never repeated. */
  readonly leaseMs: number | false;
  ledger(scope: "conversation" | "bot"): ActionLedger;
  /** The context without what belongs to one run. */
  context(request: ActionRequest): Omit<ActionContext, "signal" | "attempt">;
  /** Decides whether the call is allowed. */
  authorize(call: AuthorizationRequest): Promise<AuthorizationResult>;
  /**
   * Asks people for consent, once for each call. Returns the id of the question, or `undefined` if another input waits
   * or runs under the same key.
   */
  ask(question: ApprovalQuestion): Promise<string | undefined>;
  /** Logs an exception of the bot's code. Must not throw. */
  onFailure(name: string, error: unknown): void;
}

/** A call that waits for a person. */
export interface ApprovalQuestion {
  readonly request: ActionRequest;
  readonly input: Json;
  readonly inputHash: string;
  readonly ledgerKey: string;
  readonly summary: string;
  readonly risk: ApprovalRisk | undefined;
  readonly permissions: readonly string[];
  readonly preview: ApprovalPreview | undefined;
}

export interface AuthorizationRequest {
  readonly request: ActionRequest;
  readonly input: unknown;
  readonly requiredPermissions: readonly string[];
}

export type AuthorizationResult =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly missing: readonly string[]; readonly reason: string | undefined };
