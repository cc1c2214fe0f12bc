import type { Action } from "../../actions/action.ts";
import type { Approval, CallOutcome } from "../rules/approval.ts";
import type { ApprovalWords } from "../rules/decision-word.ts";
import type { BotTexts } from "../../core/bot-texts.ts";
import type { ChatTarget, Resolution } from "../../core/chat-target.ts";
import type { Database } from "../../core/database.ts";
import type { Delivery } from "../../core/delivery.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { ScheduledRunStore } from "../../scheduled-runs/scheduled-run-store.ts";
import type { DeclaredMessengers } from "../../messengers/declare/declared-messengers.ts";
import type { Cards } from "../../messengers/replies/cards.ts";
import type { ApprovalIndexCalls, DecidesApprovals } from "../root/approval-calls.ts";
import type { ActionRights } from "../../messengers/tools/action-rights.ts";
import type { TimeWords } from "./approval-time.ts";
import type { OwnTurns } from "../../messengers/thread/own-turns.ts";

/** The conversation and the bot, as the approvals of the conversation use them. */
export interface ApprovalDeskOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly rights: ActionRights;
  readonly thread: () => {
    readonly cards: Cards;
    readonly own: OwnTurns;
    readonly delivery: Pick<Delivery, "receipt" | "movedTo">;
  };
  readonly messengers: Pick<DeclaredMessengers, "find" | "isDeclared" | "context" | "surface">;
  /** Name of the conversation. */
  readonly conversation: () => string;
  /** The calls to the root, which knows the requests of all conversations. */
  readonly index: () => Pick<ApprovalIndexCalls, "approvalHints" | "grantPlaces">;
  /** Returns the calls to another conversation. */
  readonly callsTo: (
    conversation: string,
  ) => Pick<DecidesApprovals, "lookAtApprovals" | "bringApproval" | "lookAtGrants" | "endGrant">;
  /** Returns the bot's action of this name. Undefined if the bot no longer has it. */
  readonly actionNamed: (name: string) => Action | undefined;
  /** Runs an approved action. Returns its output, or `{ error }`. */
  readonly run: (approval: Approval) => Promise<CallOutcome>;
  /** Finds out what became of a call that a grant covered, when its turn has ended. */
  readonly outcomeOf: (use: Approval) => Promise<CallOutcome>;
  /** Returns the text that the model has written in a turn so far. */
  readonly textSoFar: (turnId: string) => string;
  /** How long approvals and grants are kept after their end, in milliseconds. */
  readonly keepMs: () => number;
  /** The bot's own words for texts that people read. */
  readonly texts: () => BotTexts;
  /** Writes a moment for the people of a chat. */
  readonly time: TimeWords;
  /** The words that decide in a reply to a card. */
  readonly words: () => ApprovalWords;
  /** The bot's messenger, if it has only one. */
  readonly onlyMessenger: () => string | undefined;
  /** Looks for the address of a target in the root's directories. */
  readonly resolveTarget: (to: ChatTarget) => Promise<Resolution>;
  /** Called when stored work waits for the loop. */
  readonly onChange: () => void;
  /** Called for each new state of an approval, in the transaction that stores it. */
  readonly onState: (approval: Approval) => void;
  /** Called for each new state of a call that a grant covers, in the transaction that stores it. */
  readonly onUse: (use: Approval) => void;
  /** The turns of scheduled tasks. */
  readonly runs?: Pick<ScheduledRunStore, "get" | "problemOf" | "setProblem">;
}
