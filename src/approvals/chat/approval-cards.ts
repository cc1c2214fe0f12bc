import { formatResult } from "../../actions/declare/format-result.ts";
import { sayTo } from "../../core/text/bot-texts.ts";
import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import type { Action } from "../../actions/declare/action.ts";
import { approvalCard } from "../rules/approval-card.ts";
import { fitOneCard, togetherCard } from "../rules/together-card.ts";
import { APPROVALS } from "../root/approval-calls.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import type { CardFace, CardRole, CardView } from "../rules/card-view.ts";
import { UNNAMED_PLACES, unreachedWords, type AskedPlace, type Unreached } from "../rules/card-place.ts";
import { nameOf } from "../rules/outcome-words.ts";
import { summaryOf } from "../rules/summary-of.ts";
import { checkContent } from "../../core/message/check-content.ts";
import type { CardContent, Json } from "../../core/message/content.ts";
import type { GonePlace } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { isAskedOutside, type Approval, type ApproverRule, type OpenEdit } from "../rules/approval.ts";
import type { Address } from "../../core/chat/surface.ts";
import { botTime } from "../../feature/bot-time.ts";
import { replyPolicy } from "../../messengers/declare/texts.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import { approversInWords } from "./approval-texts.ts";
import { memberCheck, usualPlace, type IsMember } from "./usual-place.ts";
import { broughtCardIdOf, cardIdOf, editCardIdOf, outcomeKeyOf } from "./card-ids.ts";

/** The places of a question. */
export type CardPlaces = Pick<Approval, "askedIn" | "unreached">;

const MOST_PRIVATE_CHATS = 10;
/** An answer that is written sooner after a card has changed may be about its earlier question. */
const READING_MS = 10_000;

/**
 * The cards of approvals: one in the chat that asked, and one in each other chat in which people are asked. All of them
 * show the same state.
 *
 * If a place turns out to be gone, the chat that asked says so. If no place is left, people are asked in that chat.
 */
export class ApprovalCards {
  readonly #host: Pick<ApprovalsHost, "actions" | "agent" | "deps" | "messengers" | "objects" | "thread">;
  readonly #isMember: IsMember;
  /** Since when cards that somebody has turned show their question, by card. */
  readonly #shownSince = new Map<string, number>();

  constructor(host: Pick<ApprovalsHost, "actions" | "agent" | "deps" | "messengers" | "objects" | "thread">) {
    this.#host = host;
    this.#isMember = memberCheck(host.messengers, host.deps);
  }

  /** Finds the chats in which people are asked. The chat that asks is not one of them if it is the only one. */
  async placesOf(
    action: Pick<Action, "askIn" | "requesterMayApprove">,
    approvers: ApproverRule,
    facts: CallFacts,
  ): Promise<CardPlaces> {
    const places = await this.#findPlaces(action, approvers, facts);
    const isOrigin = ({ address }: AskedPlace): boolean =>
      address.messengerId === facts.address?.messengerId && address.threadId === facts.address.threadId;
    return places.askedIn.every(isOrigin) ? { ...places, askedIn: [] } : places;
  }

  async #findPlaces(
    { askIn: wanted, requesterMayApprove = true }: Pick<Action, "askIn" | "requesterMayApprove">,
    approvers: ApproverRule,
    facts: CallFacts,
  ): Promise<CardPlaces> {
    const { address, person } = facts;
    const asker = requesterMayApprove ? undefined : person?.userId;
    const askIn = wanted ?? (await usualPlace(approvers, asker, facts, this.#isMember));
    if (askIn === "here") return { askedIn: [], unreached: [] };
    if (typeof askIn === "object") {
      const found = await this.#host.objects.link.resolveTarget(askIn);
      if (found.kind === "found")
        return { askedIn: [{ address: found.address, who: undefined }], unreached: [] };
      return { askedIn: [], unreached: [{ who: UNNAMED_PLACES.chatToAsk, why: "gone" }] };
    }
    return this.privateChatsOf(approvers, { origin: address, requester: person, requesterMayApprove });
  }

  /** Finds the private chats of the people of a rule, with the requester left out who may not decide. */
  async privateChatsOf(
    rule: ApproverRule,
    {
      origin,
      requester,
      requesterMayApprove,
    }: Pick<Approval, "origin" | "requester" | "requesterMayApprove">,
  ): Promise<{ readonly askedIn: readonly AskedPlace[]; readonly unreached: readonly Unreached[] }> {
    // A turn of the bot's own code may have no chat.
    const messenger = origin?.messengerId ?? this.#onlyMessenger();
    if (messenger === undefined) return { askedIn: [], unreached: [] };
    const people = peopleOf(
      rule,
      requester === undefined ? undefined : { ...requester, name: nameOf(requester) },
    );
    const askedIn: AskedPlace[] = [];
    const unreached: Unreached[] = [];
    const asked = people.filter(({ userId }) => requesterMayApprove || userId !== requester?.userId);
    for (const { name, userId } of asked.slice(0, MOST_PRIVATE_CHATS)) {
      const found = await this.#host.objects.link.resolveTarget({ messenger, userId });
      if (found.kind === "found") askedIn.push({ address: found.address, who: name });
      else unreached.push({ who: name, why: found.isGone === true ? "gone" : "never-wrote" });
    }
    return { askedIn, unreached };
  }

  /**
   * Posts or changes all cards of an approval. Only stores the changes.
   *
   * @param together all that its card shows
   */
  draw(approval: Approval, together: readonly Approval[] = [approval]): void {
    for (const card of this.#cardsOf(approval)) {
      this.#shownSince.delete(card.id);
      if (together.length > 1 && !card.isBrought) this.#drawTogether(together, card);
      else this.#draw(approval, card, "first");
    }
  }

  /** Whether nobody has seen these questions, and one card has room for all of them in each of their chats. */
  fitTogether(questions: readonly Approval[]): boolean {
    const [first] = questions;
    if (first === undefined || questions.some((one) => this.isDrawn(one))) return false;
    const places = this.#cardsOf(first).filter(({ address }) =>
      this.#host.messengers.isDeclared(address.messengerId),
    );
    return places.length > 0 && places.every((card) => fitOneCard(questions, this.#viewOf(first, card)));
  }

  /** Shows the other face of one card. Decides nothing, and changes no other card. Only stores the change. */
  turn(approval: Approval, cardId: string, face: CardFace): void {
    const card = this.#cardsOf(approval).find(({ id }) => id === cardId);
    if (card === undefined) return;
    const shownAt = this.#shownAt(approval, cardId);
    if (shownAt !== undefined) this.#shownSince.set(cardId, shownAt);
    this.#draw(approval, card, face);
  }

  #draw(approval: Approval, placed: PlacedCard, face: CardFace): void {
    if (!this.#host.messengers.isDeclared(placed.address.messengerId)) return;
    const isWaiting = approval.state === "waiting";
    const card = approvalCard(this.#withResult(approval), { ...this.#viewOf(approval, placed), face });
    // If somebody has deleted the card, a question that took it over is posted again: it must be seen.
    this.#store(placed, card, isWaiting, approval.cardOf !== undefined && isWaiting ? "post" : "leave");
  }

  #drawTogether(together: readonly Approval[], placed: PlacedCard): void {
    const [first] = together;
    if (first === undefined || !this.#host.messengers.isDeclared(placed.address.messengerId)) return;
    const isWaiting = together.some(({ state }) => state === "waiting");
    const shown = together.map((one) => this.#withResult(one));
    this.#store(placed, togetherCard(shown, this.#viewOf(first, placed)), isWaiting, "leave");
  }

  #viewOf(approval: Approval, { address, role }: PlacedCard): CardView {
    const say = sayTo(this.#host.agent, approval.requester);
    const people = approversInWords(approval, say, role !== "status");
    const areApproversAway = areAway(approval, role);
    return {
      approvers: areApproversAway ? say("findWithApprovals", { people }) : people,
      areApproversAway,
      time: (at) => botTime(this.#host.agent, at, say),
      role,
      say,
      messageLength: this.#messageLength(address),
    };
  }

  #store(
    { address, id, role }: PlacedCard,
    card: CardContent,
    isWaiting: boolean,
    ifDeleted: "post" | "leave",
  ): void {
    const { cards } = this.#host.thread;
    checkContent(card);
    // The conversation of another chat knows nothing of the card. In the chat that asked, the model knows it.
    const asksForWord = isWaiting && role === "elsewhere";
    const content = { kind: "stored-card", card, image: undefined, asksForWord } as const;
    // Somebody may press a button that the card does not have any more, and must hear what was decided.
    if (cards.store.read(id) !== undefined) cards.revise(id, content, ifDeleted, true);
    else cards.post({ id, address, policy: this.#policyOf(address), owner: APPROVALS.name }, content);
  }

  /** Returns an approval with its outcome as the action's `format` shows it. */
  #withResult(approval: Approval): Approval {
    const { action, input, outcome, state } = approval;
    if (state !== "done" || outcome === undefined) return approval;
    try {
      const named = this.#host.actions.named(action);
      const shown = named && formatResult(named, { input, output: outcome });
      return shown === undefined ? approval : { ...approval, outcome: shown };
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return approval;
    }
  }

  /** Longest text of a card with buttons. */
  #messageLength({ messengerId }: Address): number {
    const { capabilities, limits } = this.#host.messengers.surface(messengerId);
    return Math.min(limits.maxLength, capabilities.buttonLimits?.maxTextLength ?? Infinity);
  }

  /** Whether an approval has a card already. */
  isDrawn(approval: Approval): boolean {
    const { store } = this.#host.thread.cards;
    const ids = cardsOf(approval).map(({ id }) => id);
    if (approval.cardOf === undefined) return ids.some((id) => store.read(id) !== undefined);
    return ids.some(
      (id) => store.read(id)?.buttons.some(({ payload }) => isAbout(payload, approval)) === true,
    );
  }

  /** Posts or changes the card of a form that changes the input. Only stores the change. */
  drawEdit(id: string, address: Address, card: CardContent): void {
    if (!this.#host.messengers.isDeclared(address.messengerId)) return;
    this.#store({ id, address, role: "here", isBrought: true }, card, false, "leave");
  }

  /** Shows that a form is over. Only stores the change. */
  endEdit(approval: Approval, { address, by, number }: OpenEdit): void {
    const say = sayTo(this.#host.agent, by.person);
    const text = escapeMarkdown(say("editEnded", { what: summaryOf(approval) }));
    this.drawEdit(editCardIdOf(approval, number), address, { kind: "card", text });
  }

  /** Reminds the people who may decide, below the cards. Only stores the messages. */
  remind(approval: Approval): void {
    const { askedIn, expiresAt, origin } = approval;
    const what = summaryOf(approval);
    const say = sayTo(this.#host.agent, approval.requester);
    const approvers = approversInWords(approval, say);
    const text = say("reminder", { approvers, what, time: botTime(this.#host.agent, expiresAt, say) });
    const isShown = origin !== undefined && !isAskedOutside(approval);
    if (isShown && !isAskedElsewhere(approval))
      this.#below(approval, cardIdOf(approval), origin, "reminder", text);
    for (const [index, { address }] of askedIn.entries())
      this.#below(approval, `${cardIdOf(approval)}:${index}`, address, `reminder:${index}`, text);
  }

  /** Asks somebody below the card in the private chat, because another approver has handed the decision over. */
  askBelow(approval: Approval, address: Address, key: string, text: string): void {
    const card = this.#cardsOf(approval).find((one) => one.address.threadId === address.threadId);
    this.#below(approval, card?.id ?? cardIdOf(approval), address, `hand:${key}`, text);
  }

  /** Points at the card in the chat that asked, below which somebody has asked for the same again. */
  pointAt(approval: Approval, requestId: string): void {
    if (approval.origin === undefined || isAskedOutside(approval)) return;
    const text = sayTo(this.#host.agent, approval.requester)("askedAlready");
    this.#below(approval, cardIdOf(approval), approval.origin, `again:${requestId}`, text);
  }

  /** Whether a turn has pointed at the card of an earlier question, instead of asking again. */
  hasPointedAt(approval: Approval, requestId: string): boolean {
    const id = `${outcomeKeyOf(approval)}:again:${requestId}`;
    return this.#host.thread.delivery.receipt(id) !== undefined;
  }

  /** Says in the chat that asked who cannot be reached. */
  tellUnreached(approval: Approval): void {
    const { origin, unreached } = approval;
    if (origin === undefined) return;
    const say = sayTo(this.#host.agent, approval.requester);
    const here = isAskedElsewhere(approval) ? [] : [say("decideHere")];
    const text = [unreachedWords(unreached, say), ...here].join(" ");
    this.#below(approval, cardIdOf(approval), origin, `unreached:${unreached.length}`, text);
  }

  /** Returns those who were asked in a chat that accepts no messages any more. */
  lostIn(approval: Approval, place: GonePlace): Unreached[] {
    return approval.askedIn
      .filter(({ address }) => this.isAt(address, place))
      .map(({ who }) => ({ who: who ?? UNNAMED_PLACES.askedChat, why: "gone" }));
  }

  /** Returns the id of the message with the card in this chat. Undefined if it is in another one. */
  messageIn(approval: Approval, threadId: string): string | undefined {
    for (const { id } of cardsOf(approval)) {
      const receipt = this.#host.thread.delivery.receipt(id);
      if (receipt?.threadId === threadId) return receipt.messages.at(-1)?.messageId;
    }
    return undefined;
  }

  /**
   * Whether a person who wrote at this time (epoch milliseconds) had seen the question on its card. A card that an
   * earlier question had has shown this one only since its last change.
   *
   * @param hasChanged whether the options of its card have changed since it was posted
   */
  wasSeen(approval: Approval, { message, thread }: MessengerEvent, hasChanged = false): boolean {
    if (approval.cardOf === undefined && !hasChanged) return true;
    const { delivery } = this.#host.thread;
    const card = cardsOf(approval).find(({ id }) => delivery.receipt(id)?.threadId === thread.id);
    const shownAt = card && (hasChanged ? this.#changedAt(card.id) : this.#shownAt(approval, card.id));
    return shownAt !== undefined && (message?.sentAt ?? 0) >= shownAt + READING_MS;
  }

  /** Since when a card shows this question. Undefined if it does not show it yet. */
  #shownAt({ cardOf }: Approval, cardId: string): number | undefined {
    return cardOf === undefined ? undefined : (this.#shownSince.get(cardId) ?? this.#changedAt(cardId));
  }

  #changedAt(cardId: string): number | undefined {
    const receipt = this.#host.thread.delivery.receipt(cardId);
    return receipt?.state === "delivered" ? receipt.endedAt : undefined;
  }

  /** Whether a place that is gone is where an address leads today: the chat may have moved since. */
  isAt(address: Address, { chatId, messengerId, threadId }: GonePlace): boolean {
    const today = this.placeToday(address);
    const isChat = today.messengerId === messengerId && today.chatId === chatId;
    return isChat && (threadId === undefined || today.threadId === threadId);
  }

  /** Returns where a chat is today: a group may have moved since a request was asked there. */
  placeToday(address: Address): Pick<Address, "messengerId" | "chatId" | "threadId"> {
    return { ...address, ...this.#host.thread.delivery.movedTo(address.messengerId, address.chatId) };
  }

  #cardsOf(approval: Approval): PlacedCard[] {
    return cardsOf(approval, (address) => this.placeToday(address).threadId);
  }

  /** Whether the chat of an event is one in which people can decide. */
  isDecidedIn(approval: Approval, { messengerId, thread }: MessengerEvent): boolean {
    return decidedIn(approval, (address) => this.placeToday(address).threadId)
      .map((address) => this.placeToday(address))
      .some((place) => place.messengerId === messengerId && place.threadId === thread.id);
  }

  /** The bot's messenger, if it has only one. */
  #onlyMessenger(): string | undefined {
    const [only, ...others] = this.#host.messengers.all();
    return others.length === 0 ? only?.id : undefined;
  }

  #below(approval: Approval, cardId: string, address: Address, name: string, text: string): void {
    const { cards, delivery } = this.#host.thread;
    if (!this.#host.messengers.isDeclared(address.messengerId)) return;
    const messageId = delivery.receipt(cardId)?.messages.at(-1)?.messageId;
    const options = messageId === undefined ? {} : { options: { replyTo: messageId } };
    const id = `${outcomeKeyOf(approval)}:${name}`;
    cards.post(
      { id, address, policy: this.#policyOf(address), ...options },
      { kind: "text", text: escapeMarkdown(text) },
    );
  }

  #policyOf({ messengerId }: Address): ReturnType<typeof replyPolicy> {
    return replyPolicy(this.#host.messengers.find(messengerId)?.delivery ?? {});
  }
}

function isAbout(payload: Json, { id }: Approval): boolean {
  return typeof payload === "object" && payload !== null && "approval" in payload && payload.approval === id;
}

interface PlacedCard {
  readonly id: string;
  readonly address: Address;
  readonly role: CardRole;
  /** Whether it shows this approval alone, because somebody has asked for it or is asked later. */
  readonly isBrought: boolean;
}

/**
 * Returns all cards of an approval, that of the chat that asked first. A chat that has moved and has its card again is
 * not listed twice.
 */
function cardsOf(
  approval: Approval,
  threadToday: (address: Address) => string = ({ threadId }) => threadId,
): PlacedCard[] {
  const { askedIn, broughtTo = [] } = approval;
  const origin = isAskedOutside(approval) ? undefined : approval.origin;
  const id = cardIdOf(approval);
  const role: CardRole = isAskedElsewhere(approval) ? "status" : "here";
  const brought = broughtTo.map((address, index): PlacedCard => {
    const isOrigin = origin !== undefined && address.threadId === threadToday(origin);
    const own = broughtCardIdOf(approval, index);
    return { id: own, address, role: isOrigin ? role : "elsewhere", isBrought: true };
  });
  const isInOrigin = brought.some((card) => card.role !== "elsewhere");
  return [
    ...(origin === undefined || isInOrigin ? [] : [{ id, address: origin, role, isBrought: false }]),
    ...askedIn.map(({ address }, index): PlacedCard => ({
      id: `${id}:${index}`,
      address,
      role: "elsewhere",
      isBrought: false,
    })),
    ...brought,
  ];
}

/**
 * The chats in which people can decide.
 *
 * @param threadToday returns the thread of a chat that may have moved since
 */
export function decidedIn(approval: Approval, threadToday: (address: Address) => string): Address[] {
  return cardsOf(approval, threadToday).flatMap(({ address, role }) => (role === "status" ? [] : [address]));
}

/** Whether somebody can still be asked in another chat. */
function isAskedElsewhere({ askedIn, unreached }: CardPlaces): boolean {
  return askedIn.some(({ who }) => !unreached.some((lost) => lost.who === (who ?? UNNAMED_PLACES.askedChat)));
}

/** Whether a private chat asks people whom only the bot's code can name. */
function areAway({ approvers, origin }: Approval, role: CardRole): boolean {
  if (role !== "here" || origin?.isDirectMessage !== true) return false;
  return (
    approvers.kind === "function" || (approvers.kind === "permissions" && approvers.userIds === undefined)
  );
}

function peopleOf(
  rule: ApproverRule,
  requester: { readonly userId: string; readonly name: string } | undefined,
): { readonly userId: string; readonly name: string }[] {
  switch (rule.kind) {
    case "requester":
      return requester === undefined ? [] : [requester];
    case "people":
    case "permissions":
      return (rule.userIds ?? []).map((userId, index) => ({
        userId,
        name: rule.names?.[index] ?? `Person ${userId}`,
      }));
    case "anyone":
    case "function":
      return [];
  }
}
