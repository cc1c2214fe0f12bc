import type { ChatMove } from "../../core/chat-move.ts";
import type { Approval, VoidReason } from "../rules/approval.ts";
import { Approvals } from "../consent/approvals.ts";
import { sayIn } from "../../core/bot-texts.ts";
import type { Say } from "../../core/bot-texts.ts";
import { logBotFailure } from "../../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Content } from "../../core/content.ts";
import type { GonePlace } from "../../core/delivery.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import { replyPolicy } from "../../messengers/declare/texts.ts";
import type { MessengerHint, OpenQuestions } from "../../messengers/intake/open-questions.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { ApprovalViewer, SeenApproval } from "../root/approval-calls.ts";
import { ApprovalCards, decidedIn } from "./approval-cards.ts";
import type { ApprovalDeskOptions } from "./approval-desk-options.ts";
import { ApprovalOverview } from "./approval-overview.ts";
import { ApprovalPresses } from "./approval-presses.ts";
import { ApprovalReplies } from "./approval-replies.ts";
import { Approvers } from "./approvers.ts";
import { ConsentCalls } from "./consent-calls.ts";
import { GrantOverview } from "./grant-overview.ts";
import { MissingApprovers } from "./missing-approvers.ts";
import { OutcomeTurns } from "./outcome-turns.ts";
import { OutsideDecisions } from "./outside-decisions.ts";
import { endSchema, showSchema } from "./press-payloads.ts";
import { waitingPrompt } from "./waiting-prompt.ts";

/**
 * Approvals of one conversation in its chats (I9). Puts the parts together: `ConsentCalls` asks, `ApprovalCards` shows,
 * `ApprovalPresses` takes what people press and write, `OutsideDecisions` what other systems decide, and `OutcomeTurns`
 * tells what came of it.
 */
export class ApprovalDesk implements OpenQuestions {
  readonly approvals: Approvals;
  readonly grants: GrantOverview;
  readonly missing: MissingApprovers;
  readonly consent: ConsentCalls;
  readonly outside: OutsideDecisions;
  readonly #options: ApprovalDeskOptions;
  readonly #approvers: Approvers;
  readonly #cards: ApprovalCards;
  readonly #presses: ApprovalPresses;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
    const { log } = options;
    const onFailure = (error: unknown): void => logBotFailure(log, "approval", error);
    const say = (person: MessengerAuthor | undefined): Say => this.#say(person);
    const approvers = new Approvers(options);
    const cards = new ApprovalCards({ ...options, say });
    const outcomes = new OutcomeTurns(options);
    this.#approvers = approvers;
    this.#cards = cards;
    const approvals = this.#approvalsWith(outcomes, onFailure);
    this.approvals = approvals;
    this.consent = new ConsentCalls({ ...options, approvals, approvers, cards });
    this.outside = new OutsideDecisions(approvals);
    this.missing = new MissingApprovers({ approvals, approvers, onFailure });
    this.grants = new GrantOverview({ ...options, say, grants: approvals.grants });
    const wasSeen = (approval: Approval, event: MessengerEvent): boolean => cards.wasSeen(approval, event);
    this.#presses = new ApprovalPresses({
      approvals,
      say,
      wasSeen,
      turn: (approval, cardId, face) => cards.turn(approval, cardId, face),
      isAskedForOthers: (approval) => outcomes.isAskedForOthers(approval),
      replies: new ApprovalReplies({
        say,
        approvals,
        isDecidedIn: (approval, event) => this.#isDecidedIn(approval, event),
        words: options.words,
        wasSeen,
        messageIn: (approval, threadId) => cards.messageIn(approval, threadId),
        isNewest: (approval) => {
          const newest = options.thread().own.newest();
          if (newest === undefined) return false;
          return newest === approval.requestId || cards.hasPointedAt(approval, newest);
        },
      }),
    });
  }

  #approvalsWith(outcomes: OutcomeTurns, onFailure: (error: unknown) => void): Approvals {
    const { database, deps, keepMs, onChange, onState, onUse, outcomeOf, run, runs, thread } = this.#options;
    return new Approvals({
      database,
      clock: deps.clock,
      newId: () => deps.newId(),
      keepMs,
      mayDecide: async (approval, decider) => {
        const mayDecide = await this.#approvers.mayDecide(approval, decider);
        if (!mayDecide) this.missing.look([approval]);
        return mayDecide;
      },
      run,
      outcomeOf: async (use) => (thread().own.isRunning(use.requestId) ? undefined : outcomeOf(use)),
      occurrenceOf: (rootRequest) => runs?.get(rootRequest)?.occurrenceKey,
      whyImpossible: (approval) => this.#whyImpossible(approval),
      draw: (approval) => {
        // A waiting question is drawn again when somebody turns out to be out of reach.
        if (approval.state !== "waiting" || !this.#cards.isDrawn(approval)) onState(approval);
        // The card shows the newer question by then.
        if (approval.isCardTaken !== true) this.#cards.draw(approval);
      },
      noteUse: onUse,
      remind: (approval) => this.#cards.remind(approval),
      pointAt: (waiting, requestId) => this.#cards.pointAt(waiting, requestId),
      tell: (approval) => outcomes.tell(approval),
      onChange,
      onFailure,
    });
  }

  /** Takes a press of an approval's card, of `/approvals` or of `/grants`. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const show = showSchema.safeParse(press.payload);
    if (show.success) return this.#overview(press.event).show(show.data, viewerOf(press.event, press.person));
    const end = endSchema.safeParse(press.payload);
    if (end.success) return this.grants.press(end.data, viewerOf(press.event, press.person));
    return this.#presses.pressed(press);
  }

  /** See `OpenQuestions.takesReply`. */
  takesReply(cardId: string, event: MessengerEvent): boolean {
    return this.#presses.takesReply(cardId, event);
  }

  /** See `OpenQuestions.isBareWord`. */
  isBareWord(event: MessengerEvent): boolean {
    return this.#presses.isBareWord(event);
  }

  /** See `OpenQuestions.hint`. */
  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#presses.hint(event);
  }

  /** See `OpenQuestions.hintAt`. */
  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#presses.hintAt(cardId, event);
  }

  /** The answer to `/approvals`. */
  overview(event: MessengerEvent): Promise<Content> {
    return this.#overview(event).list(viewerOf(event, event.author));
  }

  /** Returns those of these requests of this conversation that a person may see in a chat. */
  lookAt(ids: readonly string[], viewer: ApprovalViewer): Promise<SeenApproval[]> {
    return this.#overview(undefined).look(ids, viewer);
  }

  /** See `DecidesApprovals.bringApproval`. */
  bring(id: string, viewer: ApprovalViewer): Promise<boolean> {
    return this.#overview(undefined).bring(id, viewer);
  }

  /** The answer to `/grants`. */
  listGrants(event: MessengerEvent): Promise<Content> {
    return this.grants.list(viewerOf(event, event.author));
  }

  /** The number of requests that were asked in the chat of an event and still wait. */
  waitingIn({ thread }: MessengerEvent): number {
    return this.approvals
      .waiting()
      .filter(({ origin }) => origin !== undefined && this.#placeToday(origin).threadId === thread.id).length;
  }

  /** The addition to the system prompt while something waits. */
  prompt(): string | undefined {
    return waitingPrompt(this.approvals);
  }

  /** `event`: the one that is answered. */
  #overview(event: MessengerEvent | undefined): ApprovalOverview {
    const { deps } = this.#options;
    return new ApprovalOverview({
      ...this.#options,
      say: (person) => this.#say(person),
      approvals: this.approvals,
      approvers: this.#approvers,
      now: () => deps.clock.now(),
      placeToday: (address) => this.#placeToday(address),
      messageIn: (approval, threadId) => this.#cards.messageIn(approval, threadId),
      pointAt: (messageId) => {
        if (event === undefined) return;
        const policy = replyPolicy(this.#options.messengers.find(event.messengerId)?.delivery ?? {});
        const { cards } = this.#options.thread();
        const start = {
          id: `show:${event.key}`,
          address: addressOf(event),
          policy,
          options: { replyTo: messageId },
        };
        cards.post(start, this.#say(event.author)("hereItIs"));
      },
    });
  }

  #isDecidedIn(approval: Approval, { messengerId, thread }: MessengerEvent): boolean {
    return decidedIn(approval, (address) => this.#placeToday(address).threadId)
      .map((address) => this.#placeToday(address))
      .some((place) => place.messengerId === messengerId && place.threadId === thread.id);
  }

  /** A group may have moved since a request was asked there. */
  #placeToday(address: Address): Pick<Address, "messengerId" | "chatId" | "threadId"> {
    const { delivery } = this.#options.thread();
    return { ...address, ...delivery.movedTo(address.messengerId, address.chatId) };
  }

  /**
   * A chat accepts no messages any more. Ends the requests that were asked there, and says who cannot be asked there any
   * more.
   */
  chatGone(place: GonePlace): void {
    this.#options.database.transaction(() => {
      for (const approval of this.approvals.lose((one) => this.#cards.lostIn(one, place)))
        this.#cards.tellUnreached(approval);
    });
    this.approvals.cancel(({ origin }) =>
      origin !== undefined && this.#cards.isAt(origin, place) ? "chat-gone" : undefined,
    );
  }

  /** A chat continues under another id. Its waiting requests get their cards there, because the old ones stayed behind. */
  conversationMoved(messengerId: string, { to }: ChatMove): void {
    const isThere = (address: Address): boolean => {
      const today = this.#placeToday(address);
      return today.messengerId === messengerId && today.chatId === to.chatId;
    };
    this.#options.database.transaction(() => {
      for (const approval of this.approvals.waiting()) {
        const places = [approval.origin ?? [], approval.askedIn.map(({ address }) => address)].flat();
        if (places.some(isThere) && this.#cards.isDrawn(approval)) this.#cards.draw(approval);
      }
    });
  }

  /** A person deleted a message. Takes back what was asked because of it. */
  messageDeleted({ author, message, messengerId, thread }: MessengerEvent): void {
    for (const { messageId, origin, requestId } of this.approvals.waiting()) {
      const asked = origin && this.#placeToday(origin);
      const isMeant = asked?.messengerId === messengerId && asked.threadId === thread.id;
      if (message === undefined || !isMeant || messageId !== message.id) continue;
      const by = author === undefined ? {} : { person: author };
      this.approvals.drop(requestId, "withdrawn", { surface: "chat", ...by, messengerId });
    }
  }

  #whyImpossible({ action, isTool, origin }: Approval): VoidReason | undefined {
    const { actionNamed, messengers } = this.#options;
    try {
      if (origin !== undefined && !messengers.isDeclared(origin.messengerId)) return "messenger-undeclared";
      // Servers of tools may be away for a while, so a missing tool says nothing.
      return isTool || actionNamed(action) !== undefined ? undefined : "action-removed";
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  #say(person: MessengerAuthor | undefined): Say {
    return sayIn(this.#options.texts(), person?.language);
  }
}

function viewerOf(
  { messengerId, thread }: MessengerEvent,
  person: MessengerAuthor | undefined,
): ApprovalViewer {
  return { person, messengerId, thread };
}
