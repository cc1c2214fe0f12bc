import type { ModelMessage } from "ai";
import type { Amount } from "../../core/text/amount.ts";
import type { ApprovalPreview } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { Json } from "../../core/message/content.ts";
import type { AskedQuestion, Unanswered } from "../../core/chat/question.ts";
import type { RunEntry, RunRecord } from "../../core/action/run-record.ts";
import type { ActionFailure, WaitingResult, ActionOutput } from "../declare/action-errors.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { GrantScope } from "../../core/action/grant-scope.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { ActionContext, RunMember } from "../declare/action-context.ts";
import type { Action } from "../declare/action.ts";
import type { SampleRequest } from "../declare/sample.ts";
import type { CallAttachments } from "../attachments/attachments.ts";
import type { ActionStates, LocalStates } from "../memory/action-states.ts";
import type { ActionLedger } from "../ledger/ledger.ts";

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
  context(request: ActionRequest): Omit<ActionContext, RunMember>;
  /** The attachments that a call adds to a reply. */
  attachments(request: ActionRequest): CallAttachments;
  /** Decides whether the call is allowed. */
  authorize(call: AuthorizationRequest): Promise<AuthorizationResult>;
  /**
   * Asks people for consent, once for each call. Returns the id of the question, with a note for the model if somebody
   * cannot be reached, or the problem if nobody can be asked. Undefined if another input waits or runs under the same
   * key.
   */
  ask(
    question: ApprovalQuestion,
  ): Promise<
    | { readonly approvalId: string; readonly note?: string | undefined }
    | { readonly problem: string }
    | undefined
  >;
  /**
   * Uses somebody's earlier consent for a call, and stores that. Returns the person who gave it. Undefined if there is
   * none, and people must be asked.
   */
  useGrant(
    question: ApprovalQuestion,
  ): Promise<{ readonly approver: MessengerAuthor | undefined } | undefined>;
  /**
   * Stores the outcome of a call for which earlier consent may have been used.
   *
   * @param hadNoEffect whether that is certain
   */
  endUse(request: ActionRequest, output: Json | ActionFailure, hadNoEffect: boolean): void;
  /** Returns how a call stands that asked a person earlier. Undefined if it did not. */
  earlier(request: ActionRequest): EarlierRun | undefined;
  /**
   * Returns what one run of a call may ask and record.
   *
   * @param isNew whether nothing that an earlier call left under its key counts
   */
  asking(run: AskingRun, isNew: boolean): CallQuestions;
  /** What actions have noted for templates. Undefined if the bot has no templates. */
  readonly noted?: Pick<LocalStates, "notes"> | undefined;
  /** Shows a line of Markdown about a running call, or takes it away. Must not throw. */
  progress(request: ActionRequest, line: string | undefined): void;
  /** Makes one call of the bot's model. */
  sample(request: ActionRequest, asked: SampleRequest, signal: AbortSignal): Promise<unknown>;
  /** The values that actions keep: of the conversation, or of people and of the whole bot. */
  states(scope: "conversation" | "bot"): ActionStates;
  /** Knows the active contexts of the conversation. */
  readonly ownStates: Pick<LocalStates, "contexts">;
  /** Hears of each call that has an output. Must not throw. */
  onEnded(request: ActionRequest, output: ActionOutput, beganAt: number): void;
  /** Logs a call whose input does not fit the schema. Must not throw. */
  onInvalidInput(name: string): void;
  /** Logs an output that does not fit `returns`. `problem` may hold words of the output. Must not throw. */
  onInvalidOutput(name: string, problem: string): void;
  /** Logs the result of an action with a `format`, as it is shown. Must not throw. */
  onResult(name: string, shown: string): void;
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
  /** Paths of the input that the action has read to make the summary. */
  readonly summaryReads: readonly string[];
  readonly risk: ApprovalRisk | undefined;
  readonly permissions: readonly string[];
  /** Asks the action what it changes. */
  readonly preview: () => Promise<ApprovalPreview | undefined>;
  /** The calls that a grant given for this one would cover. Undefined if none can be given. */
  readonly offer: GrantScope | undefined;
  /** The money that the call moves, as the action says. */
  readonly amount: Amount | undefined;
  /** Words for people who want to see more. Undefined: those of the model. */
  readonly moreWords: string | undefined;
}

/**
 * A call that asked a person.
 *
 * - `waits`: for the answer, or for its own turn about the outcome; the model reads `output`
 * - `resumes`: the answer is there, and the call goes on in place of the run `runId`
 */
export type EarlierRun =
  | { readonly kind: "waits"; readonly output: WaitingResult }
  | { readonly kind: "resumes"; readonly runId: string };

/** One run of a call. */
export interface AskingRun {
  readonly request: ActionRequest;
  readonly ledgerKey: string;
  readonly inputHash: string;
  /** The run in the ledger. */
  readonly runId: string;
  /** The person who agreed to the call, if somebody was asked. */
  readonly approver: MessengerAuthor | undefined;
}

/** Questions to people from inside a run. */
export interface CallQuestions {
  readonly record: RunRecord;
  /**
   * Finds the people and chats of a question, and stores nothing. Returns why nobody can be asked, or how to ask.
   *
   * @throws {ConfigurationError} `questions-missing` if the bot was built without questions
   */
  prepare(question: AskedQuestion): Promise<Unanswered | PreparedQuestion>;
  /** The schemas have accepted the answers up to a place. */
  accept(position: number): void;
}

/** A question that can be asked. */
export interface PreparedQuestion {
  /**
   * Stores the question, its card and the call that waits for it, in one transaction with `withIt`. Returns the result
   * that the model reads meanwhile.
   */
  store(place: { readonly position: number; readonly entry: RunEntry }, withIt: () => void): WaitingResult;
}

export interface AuthorizationRequest {
  readonly request: ActionRequest;
  readonly input: unknown;
  readonly requiredPermissions: readonly string[];
}

export type AuthorizationResult =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly missing: readonly string[];
      readonly reason: string | undefined;
      /** Names or ids of the people who have what is missing. Undefined if the bot does not say. */
      readonly holders?: readonly string[] | undefined;
    };
