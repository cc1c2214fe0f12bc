import { holdersOf, missingPermissions, personName } from "../../actions/declare/authorize.ts";
import type { PermissionPeople } from "../../actions/declare/permission-people.ts";
import type { ApproverRole } from "../../actions/declare/action.ts";
import type { ApprovalQuestion } from "../../actions/runs/action-host.ts";
import { needsSeveral } from "../rules/quorum.ts";
import { isRequester } from "../rules/approval.ts";
import type { Approval, ApproverRule, Decider } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import { placesOf } from "../stored/index-keys.ts";
import { runBotCode } from "../../core/time/bot-code.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/chat/messenger-event.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import { threadOf } from "../../messengers/tools/call-facts.ts";

/** A question that may be escalated by now. */
type MaybeEscalated = ApprovalRequest & Pick<Approval, "escalatedAt">;

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
    if (approvers !== undefined) return ruleFor(approvers, people);
    if (facts.address?.isDirectMessage === true && (request.action.askIn ?? "here") === "here")
      return { kind: facts.person === undefined ? "anyone" : "requester" };
    // If everybody may do everything, nobody has a special permission to decide.
    if (permissions.length === 0 || granted === undefined) return { kind: "requester" };
    return holding(permissions, people);
  }

  /** Returns who may decide about a call later. Undefined if the action names nobody. */
  async escalationOf({ request }: ApprovalQuestion, facts: CallFacts): Promise<ApproverRule | undefined> {
    const { escalateTo } = request.action;
    if (escalateTo === undefined) return undefined;
    const { people } = await this.#host.actions.rights.ofTurn(request.requestId, facts);
    return ruleFor(escalateTo, people);
  }

  /**
   * Tells whether nobody in a chat may decide about a call, as far as the bot says who may. A turn without a chat is for
   * the bot's own code, which may always decide.
   */
  async isNobody(asked: ApprovalRequest): Promise<boolean> {
    const { origin, requester } = asked;
    if (origin === undefined) return false;
    if (asked.escalateTo !== undefined && !areTooFew(asked, namedBy(asked.approvers, asked.escalateTo)))
      return false;
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

  /** Tells whether nobody is left in the chats who may decide now, as far as the bot says who may. */
  async isNobodyLeft(approval: Approval): Promise<boolean> {
    if (approval.origin === undefined) return false;
    const { approvers, escalatedAt, escalateTo } = approval;
    const today = [await this.#namedToday(approval, approvers)];
    if (escalateTo !== undefined && escalatedAt !== undefined)
      today.push(await this.#namedToday(approval, escalateTo, "escalateTo"));
    return areTooFew(approval, today.includes(undefined) ? undefined : today.flatMap((ids) => ids ?? []));
  }

  /** Returns the people of a request who may still decide. Undefined if the bot does not say. */
  async #namedToday(
    { action, origin, requestId, requester }: Approval,
    rule: ApproverRule,
    option: "approvers" | "escalateTo" = "approvers",
  ): Promise<readonly string[] | undefined> {
    if (rule.kind === "people") {
      const listed = this.#listedToday(action, option);
      return rule.userIds.filter((userId) => listed?.includes(userId) !== false);
    }
    if (rule.kind !== "permissions") return undefined;
    const place = { address: origin, chat: threadOf(origin) };
    const { people } = await this.#host.actions.rights.ofPerson(requestId, requester, place);
    return holdersOf(people, rule.permissions);
  }

  /** Returns the people whom the action lists now. Undefined if it has no list. */
  #listedToday(action: string, option: "approvers" | "escalateTo"): readonly string[] | undefined {
    try {
      const listed = this.#host.actions.named(action)?.[option];
      return Array.isArray(listed) ? listed.map(String) : undefined;
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  /** Tells whether somebody may decide, asked now. */
  async mayDecide(approval: MaybeEscalated, decider: Decider): Promise<boolean> {
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
    if (await this.#isOneOf(approval, approval.approvers, person, isAsker)) return true;
    const { escalatedAt, escalateTo } = approval;
    if (escalatedAt === undefined || escalateTo === undefined) return false;
    return this.#isOneOf(approval, escalateTo, person, isAsker, "escalateTo");
  }

  async #isOneOf(
    approval: ApprovalRequest,
    rule: ApproverRule,
    person: MessengerAuthor,
    isAsker: boolean,
    option: "approvers" | "escalateTo" = "approvers",
  ): Promise<boolean> {
    switch (rule.kind) {
      case "anyone":
        return true;
      case "requester":
        return isAsker;
      case "people":
        return (
          rule.userIds.includes(person.userId) &&
          this.#listedToday(approval.action, option)?.includes(person.userId) !== false
        );
      case "permissions": {
        const { origin, requestId } = approval;
        const place = { address: origin, chat: threadOf(origin) };
        const grant = await this.#host.actions.rights.ofPerson(requestId, person, place);
        return grant.permissions !== undefined && missingPermissions(grant, rule.permissions) === undefined;
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
    const { approvers, escalatedAt, escalateTo, requestId } = approval;
    const { messengerId, person } = decider;
    if (escalatedAt !== undefined && escalateTo !== undefined) {
      const { escalateTo: _later, ...before } = approval;
      const deputy = { ...approval, approvers: escalateTo, escalateTo: undefined };
      return (
        (await this.mayDecideFrom(before, decider, thread)) ||
        (await this.mayDecideFrom(deputy, decider, thread))
      );
    }
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

/** Everybody who may decide by one of these rules. Undefined if the bot does not say. */
function namedBy(...rules: readonly ApproverRule[]): readonly string[] | undefined {
  const named = rules.map((rule) => ("userIds" in rule ? rule.userIds : undefined));
  return named.includes(undefined) ? undefined : named.flatMap((userIds) => userIds ?? []);
}

/** Returns the rule for people whom an action names. */
function ruleFor(
  who: readonly (string | number)[] | ApproverRole,
  people: PermissionPeople | undefined,
): ApproverRule {
  if ("role" in who) return holding([who.role], people);
  const userIds = who.map(String);
  return { kind: "people", userIds, ...named(userIds, people) };
}

function holding(required: readonly string[], people: PermissionPeople | undefined): ApproverRule {
  const userIds = holdersOf(people, required);
  const known = userIds !== undefined && { userIds, ...named(userIds, people) };
  return { kind: "permissions", permissions: required, ...known };
}

function named(
  userIds: readonly string[],
  people: PermissionPeople | undefined,
): { readonly names?: readonly string[] } {
  return people?.names === undefined ? {} : { names: userIds.map((id) => personName(people, id) ?? id) };
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
