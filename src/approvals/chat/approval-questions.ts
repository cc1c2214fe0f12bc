import { alert } from "../../core/card-press.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { MessengerHint, OpenQuestions } from "../../messengers/intake/open-questions.ts";
import { isReply } from "../../messengers/intake/presses.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { Approval } from "../rules/approval.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import type { ApprovalCards } from "./approval-cards.ts";
import { approvalOfCard } from "./approval-cards.ts";
import type { HandOver } from "./hand-over.ts";
import { ApprovalReplies } from "./approval-replies.ts";
import { answerOf } from "./approval-texts.ts";
import type { OutcomeTurns } from "./outcome-turns.ts";
import { cardPressSchema } from "./press-payloads.ts";
import { sayTo } from "./say-to.ts";

export interface ApprovalQuestionsOptions {
  readonly host: Pick<ApprovalsHost, "agent" | "thread">;
  readonly approvals: Approvals;
  readonly cards: ApprovalCards;
  readonly handOver: HandOver;
  readonly outcomes: OutcomeTurns;
}

/** The questions of a conversation's approvals: presses of their cards, and messages that are about such a card. */
export class ApprovalQuestions implements OpenQuestions {
  readonly #options: ApprovalQuestionsOptions;
  readonly #replies: ApprovalReplies;

  constructor(options: ApprovalQuestionsOptions) {
    this.#options = options;
    this.#replies = new ApprovalReplies(options);
  }

  /** Takes a press of an approval's card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return approvalOfCard(press.cardId) === undefined ? undefined : this.#press(press);
  }

  /** Whether a message that quotes this card is about its approval, and not for the model. */
  takesReply(cardId: string, event: MessengerEvent): boolean {
    const card = approvalOfCard(cardId);
    const approval = card && this.#shownOn(cardId).at(-1);
    const isElsewhere = card?.isElsewhere === true || this.#options.outcomes.isAskedForOthers(approval);
    return approval !== undefined && this.#replies.takes(approval, event, isElsewhere);
  }

  isBareWord(event: MessengerEvent): boolean {
    return this.#replies.isBareWord(event);
  }

  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hint(event);
  }

  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hintAt(this.#shownOn(cardId).at(-1), event);
  }

  /** A person deleted a message. Takes back what was asked because of it. */
  messageDeleted({ author, message, messengerId, thread }: MessengerEvent): void {
    const { approvals, cards } = this.#options;
    for (const { messageId, origin, requestId } of approvals.waiting()) {
      const asked = origin && cards.placeToday(origin);
      const isMeant = asked?.messengerId === messengerId && asked.threadId === thread.id;
      if (message === undefined || !isMeant || messageId !== message.id) continue;
      const by = author === undefined ? {} : { person: author };
      approvals.questions.drop(requestId, "withdrawn", { surface: "chat", ...by, messengerId });
    }
  }

  waitingIn({ thread }: MessengerEvent): number {
    const { approvals, cards } = this.#options;
    return approvals
      .waiting()
      .filter(({ origin }) => origin !== undefined && cards.placeToday(origin).threadId === thread.id).length;
  }

  /** The questions that a card has shown, the newest last. */
  #shownOn(cardId: string): Approval[] {
    return this.#options.approvals.onCard(approvalOfCard(cardId)?.id ?? "");
  }

  async #press({ cardId, event, isTyped, payload, person }: CardPress): Promise<PressAnswer> {
    const { approvals, cards, host } = this.#options;
    const say = sayTo(host.agent, person);
    const shown = this.#shownOn(cardId);
    const newest = shown.at(-1);
    if (isReply(payload))
      return newest === undefined || person === undefined
        ? undefined
        : this.#replies.take(newest, event, person);
    const press = cardPressSchema.parse(payload);
    const known = shown.find(({ id }) => id === press.approval);
    if (known === undefined || press.inputHash !== known.inputHash) return alert(say("pressUnknown"));
    if ("face" in press) {
      if (known === newest && known.state === "waiting") {
        cards.turn(known, cardId, press.face);
        return undefined;
      }
      return answerOf(
        { kind: known.state === "expired" ? "expired" : "late", approval: known },
        "approve",
        say,
      );
    }
    // A person without an id cannot decide.
    if (person === undefined) return alert(say("pressAnonymous"));
    // A number has another meaning since a newer question is on the card.
    if (isTyped && !cards.wasSeen(known, event)) return alert(say("pressReplaced"));
    if ("handTo" in press) return this.#options.handOver.take(known, press.handTo, event, person);
    const { decision, grant } = press;
    const by = { surface: "chat", person, messengerId: event.messengerId } as const;
    const result = await approvals.decisions.decide(press.approval, { kind: decision, grant }, by);
    return answerOf(result, decision, say, person);
  }
}
