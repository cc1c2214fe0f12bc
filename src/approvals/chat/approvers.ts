import { holdersOf, missingPermissions, personName } from "../../actions/authorize.ts";
import type { ApproverRole } from "../../actions/action.ts";
import type { ApprovalQuestion } from "../../actions/action-host.ts";
import { needsSeveral } from "../rules/quorum.ts";
import { isRequester } from "../rules/approval.ts";
import type { Approval, ApproverRule, Decider } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import { placesOf } from "../stored/index-keys.ts";
import { runBotCode } from "../../core/bot-code.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/messenger-event.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import { threadOf } from "../../messengers/tools/call-facts.ts";

/** The people who may decide about approvals: as the action says, or as the bot's permissions say. */
export class Approvers {
  readonly #host: Pick<ApprovalsHost, "actions" | "deps" | "log">;

  constructor(host: Pick<ApprovalsHost, "actions" | "deps" | "log">) {
    this.#host = host;
  }

  /** Returns who may decide about a call. */
  async ruleOf({ permissions, request }: ApprovalQuestion, facts: CallFacts): Promise<ApproverRule> {
    const { approvers } = request.action;
    if (typeof approvers === "function") return { kind: "function" };
    if (typeof approvers === "string") return { kind: approvers };
    const { people, permissions: granted } = await this.#host.actions.rights.ofTurn(request.requestId, facts);
    const named = (userIds: readonly string[]): { readonly names?: readonly string[] } =>
      people?.names === undefined ? {} : { names: userIds.map((id) => personName(people, id) ?? id) };
    const holding = (required: readonly string[]): ApproverRule => {
      const userIds = holdersOf(people, required);
      const known = userIds !== undefined && { userIds, ...named(userIds) };
      return { kind: "permissions", permissions: required, ...known };
    };
    if (isRole(approvers)) return holding([approvers.role]);
    if (approvers !== undefined) {
      const userIds = approvers.map(String);
      return { kind: "people", userIds, ...named(userIds) };
    }
    if (facts.address?.isDirectMessage === true && (request.action.askIn ?? "here") === "here")
      return { kind: facts.person === undefined ? "anyone" : "requester" };
    // If everybody may do everything, nobody has a special permission to decide.
    if (permissions.length === 0 || granted === undefined) return { kind: "requester" };
    return holding(permissions);
  }

  /**
   * Tells whether nobody in a chat may decide about a call, as far as the bot says who may. A turn without a chat is for
   * the bot's own code, which may always decide.
   */
  async isNobody(asked: ApprovalRequest): Promise<boolean> {
    const { origin, requester } = asked;
    if (origin === undefined) return false;
    if (needsSeveral(asked)) return areTooFew(asked, namedBy(asked.approvers)) || isOnePerson(asked);
    if (othersAreOpen(asked)) return false;
    if (requester === undefined) return true;
    const isAsker = { surface: "chat", person: requester, messengerId: origin.messengerId } as const;
    return !(await this.mayDecide(asked, isAsker));
  }

  /**
   * Whether somebody else than the person who asks must decide, and that person has written in the name of a chat. Then
   * nobody in a chat may decide: it may be the person who asks.
   */
  isAskerUnknown({ requester, requesterMayApprove }: ApprovalRequest): boolean {
    return !requesterMayApprove && requester?.isChat === true;
  }

  /** Tells whether nobody is left in the chats who may decide, as far as the bot says who may. Asked now. */
  async isNobodyLeft(approval: Approval): Promise<boolean> {
    if (approval.origin === undefined) return false;
    return areTooFew(approval, await this.#namedToday(approval));
  }

  /** Returns the people of a request who may still decide. Undefined if the bot does not say. */
  async #namedToday({
    action,
    approvers,
    origin,
    requestId,
    requester,
  }: Approval): Promise<readonly string[] | undefined> {
    if (approvers.kind === "people") {
      const listed = this.#listedToday(action);
      return approvers.userIds.filter((userId) => listed?.includes(userId) !== false);
    }
    if (approvers.kind !== "permissions") return undefined;
    const place = { address: origin, chat: threadOf(origin) };
    const { people } = await this.#host.actions.rights.ofPerson(requestId, requester, place);
    return holdersOf(people, approvers.permissions);
  }

  /** Returns the people whom the action lists now. Undefined if it has no list. */
  #listedToday(action: string): readonly string[] | undefined {
    try {
      const approvers = this.#host.actions.named(action)?.approvers;
      return Array.isArray(approvers) ? approvers.map(String) : undefined;
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  /** Tells whether somebody may decide, asked now. */
  async mayDecide(approval: ApprovalRequest, decider: Decider): Promise<boolean> {
    const { messengerId, person, surface } = decider;
    // The bot's own code, or the token, has proved who asks.
    if (surface === "api" || decider.isAdmin === true) return true;
    if (person === undefined) return false;
    // Ids of people mean nothing in a messenger in which nobody was asked.
    const isAskedThere = placesOf(approval).some((place) => place.messengerId === messengerId);
    if (messengerId !== undefined && !isAskedThere) return false;
    const isAsker = isRequester(approval, decider);
    if (!approval.requesterMayApprove && (isAsker || mayBeSame(approval.requester, person))) return false;
    // Two names of chats may be one person.
    if (needsSeveral(approval) && person.isChat === true) return false;
    const { approvers } = approval;
    switch (approvers.kind) {
      case "anyone":
        return true;
      case "requester":
        return isAsker;
      case "people":
        return (
          approvers.userIds.includes(person.userId) &&
          this.#listedToday(approval.action)?.includes(person.userId) !== false
        );
      case "permissions": {
        const { origin, requestId } = approval;
        const place = { address: origin, chat: threadOf(origin) };
        const grant = await this.#host.actions.rights.ofPerson(requestId, person, place);
        return (
          grant.permissions !== undefined && missingPermissions(grant, approvers.permissions) === undefined
        );
      }
      case "function": {
        const decides = this.#host.actions.named(approval.action)?.approvers;
        if (typeof decides !== "function") return false;
        const { deps, log } = this.#host;
        const asked = runBotCode({ clock: deps.clock, log }, "approvers", () => decides(person));
        // The log has the reason of a failure.
        return asked.catch(() => false);
      }
    }
  }

  /**
   * Tells whether somebody who looks from another chat may decide. A right that belongs to the chat of the request, and
   * not to the person, does not count.
   */
  async mayDecideFrom(approval: Approval, decider: Decider, thread: MessengerThread): Promise<boolean> {
    const { approvers, requestId } = approval;
    const { messengerId, person } = decider;
    if (approvers.kind === "anyone" || !(await this.mayDecide(approval, decider))) return false;
    if (approvers.kind !== "permissions" || messengerId === undefined) return true;
    const place = { address: addressOf({ messengerId, thread }), chat: thread };
    const grant = await this.#host.actions.rights.ofPerson(requestId, person, place);
    return grant.permissions !== undefined && missingPermissions(grant, approvers.permissions) === undefined;
  }
}

/** Whether two authors may be one person, because somebody has written in the name of a chat. */
function mayBeSame(requester: MessengerAuthor | undefined, person: MessengerAuthor): boolean {
  return requester !== undefined && (requester.isChat === true || person.isChat === true);
}

function namedBy(rule: ApproverRule): readonly string[] | undefined {
  return "userIds" in rule ? rule.userIds : undefined;
}

/** Whether fewer people than must approve may decide, as far as they are known. */
function areTooFew(
  { quorum = 1, requester, requesterMayApprove }: ApprovalRequest,
  userIds: readonly string[] | undefined,
): boolean {
  const others = userIds?.filter((userId) => requesterMayApprove || userId !== requester?.userId);
  return others !== undefined && new Set(others).size < quorum;
}

/** Whether only the person who asks could approve. */
function isOnePerson({ approvers, askedIn, origin, requester }: ApprovalRequest): boolean {
  if (approvers.kind === "requester") return requester !== undefined;
  return approvers.kind === "anyone" && origin?.isDirectMessage === true && askedIn.length === 0;
}

/** Whether somebody other than the person who asked may decide, or the bot does not say who may. */
function othersAreOpen({ approvers, askedIn, origin, requester }: ApprovalRequest): boolean {
  switch (approvers.kind) {
    case "function":
      return true;
    case "requester":
      // Without a person the bot's team decides.
      return requester === undefined;
    case "anyone":
      return requester === undefined || origin?.isDirectMessage !== true || askedIn.length > 0;
    case "people":
    case "permissions":
      return approvers.userIds?.some((userId) => userId !== requester?.userId) ?? true;
  }
}

function isRole(
  approvers: readonly (string | number)[] | ApproverRole | undefined,
): approvers is ApproverRole {
  return approvers !== undefined && "role" in approvers;
}
