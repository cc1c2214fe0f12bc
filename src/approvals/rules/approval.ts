import { isAskedByCaller } from "../../core/action/outside-call.ts";
import { SCHEDULE_DELETED } from "../../core/turn/scheduled-run.ts";
import type { ApprovalPreview } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { Json } from "../../core/message/content.ts";
import type { GrantScope } from "../../core/action/grant-scope.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { ScheduleBinding } from "../../core/turn/schedule-binding.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { FormState } from "../../forms/form.ts";
import type { AskedPlace, Unreached } from "./card-place.ts";
import type { GrantLength } from "./grant-length.ts";
import type { OutsideAsker } from "../../messengers/tools/outside-asker.ts";

/** The people who may decide: by id, the person who asked, anybody in the chat, or those whom the bot's function accepts. */
export type ApproverRule =
  | { readonly kind: "people"; readonly userIds: readonly string[]; readonly names?: readonly string[] }
  | { readonly kind: "requester" }
  | { readonly kind: "anyone" }
  /** Everybody to whom these permissions are granted explicitly. */
  | {
      readonly kind: "permissions";
      readonly permissions: readonly string[];
      /** The people who had them when it was asked, as far as the bot says. */
      readonly userIds?: readonly string[];
      readonly names?: readonly string[];
    }
  /** A function of the action, asked for each person. */
  | { readonly kind: "function" };

/**
 * The state of an approval.
 *
 * - `waiting`: nobody has decided
 * - `approved`: decided, and the action has not begun
 * - `running`: the action is running
 * - `done`, `failed`: the action has ended; `outcome` is its result
 * - `rejected`: somebody said no; `reason` may say why
 * - `expired`: nobody decided in time
 * - `withdrawn`: the person who asked took it back, or somebody deleted its schedule
 * - `replaced`: somebody asked for changes, or the same action was asked for again with another input
 * - `void`: it can never run, because the chat is gone, the bot no longer has the action, or nobody may decide; `reason`
 *   is a `VoidReason`
 */
export type ApprovalState =
  | "waiting"
  | "approved"
  | "running"
  | "done"
  | "failed"
  | "rejected"
  | "expired"
  | "withdrawn"
  | "replaced"
  | "void";

/**
 * Why an approval is `void`. `approvers-missing`: nobody may decide about it, so nobody was asked. `requester-anonymous`:
 * somebody else than the person who asks must decide, and that person wrote in the name of a chat.
 */
export type VoidReason =
  | "chat-gone"
  | "messenger-undeclared"
  | "action-removed"
  | "approvers-missing"
  | "requester-anonymous";

/** The `reason` of a `replaced` approval whose message was changed or continued. */
export const MESSAGE_CHANGED = "message-changed";

/** Whether a question was replaced because its message was changed or continued. No person decided that. */
export function isMessageChanged({ decidedBy, reason, state }: Approval): boolean {
  return state === "replaced" && decidedBy === undefined && reason === MESSAGE_CHANGED;
}

/** Whether a question was taken back because its schedule was deleted. */
export function isScheduleDeleted({ decidedBy, reason, state }: Approval): boolean {
  return state === "withdrawn" && decidedBy === undefined && reason === SCHEDULE_DELETED;
}

/**
 * Whether no chat of this conversation asks: the system that calls asks its own person, or the conversation for which an
 * agent works asks its own.
 */
export function isAskedOutside({ requestId, schedule }: Pick<Approval, "requestId" | "schedule">): boolean {
  return isAskedByCaller(requestId) || (schedule?.agent !== undefined && schedule.asksItself !== true);
}

/** Whether an approval can still change. */
export function isOpen(state: ApprovalState): boolean {
  return state === "waiting" || state === "approved" || state === "running";
}

/**
 * The person or system that decided. `surface` tells where:
 *
 * - `chat`: with a button or a reply
 * - `http`: over the routes of the administrator's token
 * - `api`: the bot's own code
 * - `grant`: the person had agreed before
 */
export interface Decider {
  readonly surface: "chat" | "http" | "api" | "grant";
  /** The person of a chat, or for whom another system decided. */
  readonly person?: MessengerAuthor;
  /** The messenger of that person: ids of people mean nothing in another one. */
  readonly messengerId?: string;
  /** Id of the grant that was used, or given with this decision. */
  readonly grantId?: string;
  /** How long the grant holds that was given with this decision. */
  readonly granted?: GrantLength;
  /** Whether the person wrote the decision in a reply to the card. */
  readonly isTyped?: boolean;
  /** Name that a system gave, where nobody pressed a button. */
  readonly name?: string;
  /** Whether the holder of the administrator's token decided, whoever the approvers are. */
  readonly isAdmin?: boolean;
}

/** An approver who was asked to decide by another one. Both in words. */
export interface HandedOver {
  readonly to: string;
  readonly by: string;
}

/** Somebody changes the input in a form that is open. */
export interface OpenEdit {
  /** Tells its card from earlier ones of the same question. */
  readonly number: number;
  readonly by: Decider;
  /** The chat of the form. */
  readonly address: Address;
  readonly form: FormState;
}

/** Somebody has changed the input that the model wrote. */
export interface EditedInput {
  /** All who have, each once. */
  readonly by: readonly Decider[];
  /** The input as the model wrote it. */
  readonly original: Json;
}

/** One question to people: may this action run with exactly this input? */
export interface Approval {
  /** Id of the approval, and the execution id of `approvals.approve`. */
  readonly id: string;
  readonly action: string;
  readonly toolCallId: string;
  /** Id of the turn that asked. */
  readonly requestId: string;
  /** Key of the action's row in the ledger. */
  readonly ledgerKey: string;
  /** The input as the model wrote it, or as an approver changed it: see `edited`. It runs if somebody approves, and never changes. */
  readonly input: Json;
  readonly inputHash: string;
  /** One line that says what will happen. */
  readonly summary: string;
  /** Paths of the input that the action has read to make the summary. */
  readonly summaryReads?: readonly string[] | undefined;
  /** Labels of inputs by path, in the language of the person who asked. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly risk: ApprovalRisk | undefined;
  readonly permissions: readonly string[];
  readonly kind: "approval-gated" | "durable-pause";
  /** Paths of the input whose values nobody may see, such as `card.number`. */
  readonly sensitive: readonly string[];
  /** Id of the turn that began the request. Outcomes of earlier actions of the request come in turns of their own. */
  readonly rootRequest: string;
  /** The calls that a grant given with this decision would cover. Undefined if none can be given. */
  readonly offer: GrantScope | undefined;
  /** Whether the turn itself runs the call, because a grant covers it. Nobody was asked, and there is no card. */
  readonly isInline: boolean;
  /** Whether a tool of `getTools()` asked, not an action. */
  readonly isTool: boolean;
  /** The words with which the model asked. They may be wrong. Undefined if it wrote none. */
  readonly modelWords: string | undefined;
  /** The difference against the day of the question, as the action said. Undefined if it says none. */
  readonly preview: ApprovalPreview | undefined;
  /** The person who asked. Undefined if no person began the turn. */
  readonly requester: MessengerAuthor | undefined;
  /** Everybody whose rights the action needs: the people whose messages the turn answered. */
  readonly people: readonly MessengerAuthor[];
  /** The chat in which the turn ran. Undefined outside a messenger. */
  readonly origin: Address | undefined;
  /** Id of the newest message that the turn answered. Undefined if no message began it. */
  readonly messageId: string | undefined;
  /** Where else people are asked. Empty: in the chat of the turn. */
  readonly askedIn: readonly AskedPlace[];
  /** Private chats of people who may decide, in which they have asked for a card of their own. */
  readonly broughtTo?: readonly Address[] | undefined;
  /** Those of the people to ask who cannot be reached. */
  readonly unreached: readonly Unreached[];
  readonly approvers: ApproverRule;
  readonly requesterMayApprove: boolean;
  /** The number of different people who must approve. Undefined: one. */
  readonly quorum?: number | undefined;
  /** Those who have approved so far, if several must. One of them may have lost the right since. */
  readonly agreed?: readonly Decider[] | undefined;
  /** Those who may decide, too, after `escalatedAt`. */
  readonly escalateTo?: ApproverRule | undefined;
  /** Time at which they are asked, in epoch milliseconds. Undefined if there is none, or they were asked. */
  readonly escalateAt?: number | undefined;
  readonly escalatedAt?: number | undefined;
  /** Whether approvers can change the input in a form. */
  readonly isEditable?: boolean | undefined;
  /** The people who have changed the input of the model. Undefined if nobody has. */
  readonly edited?: EditedInput | undefined;
  /** The form in which somebody changes the input at the moment. */
  readonly edit?: OpenEdit | undefined;
  /** The number of forms so far. */
  readonly edits?: number | undefined;
  /** The approver to whom another one has handed it over last. All approvers may still decide. */
  readonly handedTo?: HandedOver | undefined;
  /** Time of the one reminder, in epoch milliseconds. Undefined if there is none, or it was sent. */
  readonly remindAt: number | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  readonly decidedAt: number | undefined;
  readonly decidedBy: Decider | undefined;
  /** Words of the person who rejected or asked for changes, or a code. */
  readonly reason: string | undefined;
  /** Result of the action: its output, or `{ error }`. */
  readonly outcome: Json | undefined;
  readonly endedAt: number | undefined;
  /** Whether the person who decided gave the reason later, in a reply to the card. */
  readonly isExplained: boolean;
  /** Id of the newer question, after somebody asked for changes. */
  readonly successor: string | undefined;
  /** The state that the card shows. Undefined if there is no card, or it does not show all facts. */
  readonly drawnState: ApprovalState | undefined;
  /** Whether the outcome was given to the conversation as a turn. */
  readonly isTold: boolean;
  /** The schedule whose run asked. Undefined for all other turns. */
  readonly schedule?: ScheduleBinding | undefined;
  /** The channel that the bot's own code gave to the turn. */
  readonly channel?: string | undefined;
  /** See `CallFacts`. They hold when it runs, too. */
  readonly scopes?: readonly string[] | undefined;
  /** The other system that calls. It asks nobody itself once people have agreed. */
  readonly outside?: OutsideAsker | undefined;
  /** Id of the approval that first posted the card. Undefined if it is this one. */
  readonly cardOf?: string | undefined;
  /** Id of the approval on whose card this one and others of its step are shown together. Undefined if it is alone. */
  readonly together?: string | undefined;
  /** Whether the root gives back what this use of a limited grant has claimed. */
  readonly isGivenBack?: boolean;
  /** Whether its run waits for somebody's answer, and tells its outcome itself. */
  readonly asksPeople?: boolean;
  /** Whether the `successor` shows its question on this approval's card. */
  readonly isCardTaken?: boolean;
}

/** Result of an action that ran: its output, or `{ error }`. */
export interface CallOutcome {
  readonly output: Json;
  readonly isFailure: boolean;
  /** Whether the call has certainly had no effect. @default false */
  readonly hadNoEffect?: boolean;
}

/**
 * Decision about an approval. `change` asks for another proposal, `withdraw` takes the question back, `retract` undoes the
 * person's own approval while others are missing.
 */
export type ApprovalDecision =
  | { readonly kind: "approve"; readonly grant?: GrantLength | undefined }
  | {
      readonly kind: "reject";
      readonly reason?: string | undefined;
      /** Whether the model is told, in a turn of its own. @default true */
      readonly autoContinue?: boolean | undefined;
    }
  | { readonly kind: "change"; readonly wish?: string | undefined }
  | { readonly kind: "withdraw" }
  | { readonly kind: "retract" };

/** Whether somebody is the person who asked. */
export function isRequester(
  { origin, requester }: Pick<Approval, "origin" | "requester">,
  { messengerId, person }: Pick<Decider, "messengerId" | "person">,
): boolean {
  const isElsewhere = messengerId !== undefined && origin !== undefined && messengerId !== origin.messengerId;
  return person !== undefined && person.userId === requester?.userId && !isElsewhere;
}

/** Whether this person decided and may still say why, in a reply to the card. */
export function mayExplain(approval: Approval, person: Pick<MessengerAuthor, "userId">): boolean {
  const { decidedBy, reason, state, successor } = approval;
  const isMeant = state === "rejected" || (state === "replaced" && successor === undefined);
  return isMeant && reason === undefined && decidedBy?.person?.userId === person.userId;
}

/**
 * Answer to a decision.
 *
 * - `decided`: this decision counts. The approval still waits if more people must approve
 * - `late`: somebody decided before; `approval` says what
 * - `expired`: nobody decided in time, and now it is too late
 * - `not-allowed`: this person may not decide
 * - `unknown`: there is no such approval
 */
export type DecisionResult =
  | { readonly kind: "decided" | "late" | "expired"; readonly approval: Approval }
  | { readonly kind: "not-allowed"; readonly approval: Approval }
  | { readonly kind: "unknown" };
