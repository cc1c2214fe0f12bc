import type { Database } from "../../core/store/database.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { AllowanceClaim } from "./allowance.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { Unreached } from "./card-place.ts";
import type { Approval, CallOutcome, Decider, VoidReason } from "./approval.ts";

/** Where the people are asked to whom a question is escalated. */
export interface Escalation {
  readonly places: readonly Address[];
  readonly unreached: readonly Unreached[];
}

/** The conversation around its approvals, as they act on it. */
export interface ApprovalHost {
  readonly database: Database;
  readonly clock: Clock;
  newId(): string;
  /** How long approvals and grants are kept after their end, in milliseconds. @default 365 days */
  keepMs?(): number;
  /** Tells whether a person may decide. Asked before every decision of a person. */
  mayDecide(approval: Approval, decider: Decider): Promise<boolean>;
  /** Tells whether nobody is left who may decide. Asked when somebody may not decide, and once in every process. */
  isNobodyLeft(approval: Approval): Promise<boolean>;
  /**
   * Runs the approved action with the rights of the person who asked, through the ledger. Returns its output, or `{
   * error }`; undefined if it asks somebody while it runs, and tells its outcome later. May be called again after a crash:
   * the ledger knows the outcome of the first run.
   */
  run(approval: Approval): Promise<CallOutcome | undefined>;
  /**
   * Finds out what became of a call that a grant covered and whose process has ended. Undefined while its turn runs: it
   * may repeat the call. `asks`: it waits for somebody's answer, and tells its outcome itself.
   */
  outcomeOf(use: Approval): Promise<CallOutcome | "asks" | undefined>;
  /** Returns the key of the occurrence of a schedule that a run belongs to. @default unknown */
  occurrenceOf?(rootRequest: string): string | undefined;
  /** Returns a code if the action can never run: the bot no longer has it, or no longer serves its chat. */
  whyImpossible(approval: Approval): VoidReason | undefined;
  /**
   * Posts or changes the card, so that it shows the present state of all approvals that are on it. It only stores the
   * change. Called in a transaction.
   *
   * @param together this approval, and the others on its card
   */
  draw(approval: Approval, together: readonly Approval[]): void;
  /** Whether nobody has seen these questions, and one card has room for all of them. @default never */
  fitTogether?(questions: readonly Approval[]): boolean;
  /** Gives each of the approvals of one card a card of its own. Only stores the changes. Called in a transaction. */
  showApart?(approvals: readonly Approval[]): void;
  /**
   * Gives the outcome to the conversation as a turn. It only stores the turn. Called in a transaction, once for each
   * approval, and once more if its reason came later (`isExplained`).
   */
  tell(approval: Approval): void;
  /** Claims calls and money of a limited grant at the root. Returns `false` if not enough is left. May throw. */
  claim(claim: AllowanceClaim): Promise<boolean>;
  /** Called for each new state of a call that a grant covers, in the transaction that stores it. */
  noteUse(use: Approval): void;
  /** Finds the private chats of those to whom a question is escalated, and those who cannot be reached. May throw. */
  escalate(approval: Approval): Promise<Escalation>;
  /** Reminds the people who may decide. It only stores the messages. Called in a transaction, once for each approval. */
  remind(approval: Approval): void;
  /**
   * Points at the card of a question that waits already, for a person who has asked for the same again. It only stores the
   * message. Called in a transaction, and again for a turn that is repeated after a crash.
   */
  pointAt?(waiting: Approval, requestId: string): void;
  /** Called after changes, because the durable wake-up may have to move. */
  onChange(): void;
  /** Logs an error of `run`, which should have none. */
  onFailure(error: unknown): void;
}
