import { mayExplain, type Approval } from "../rules/approval.ts";
import { sayTo, type Say } from "../../core/text/bot-texts.ts";
import { decisionOf, type TypedDecision } from "../../core/action/decision-word.ts";
import { alert, type FeaturePress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { MessengerAuthor, MessengerEvent, MessengerMessage } from "../../core/chat/messenger-event.ts";
import type { MessengerHint } from "../../messengers/intake/open-questions.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { answerOf } from "./approval-texts.ts";

const LONGEST_REASON = 2_000;
/**
 * Messages about approvals that people write instead of pressing.
 *
 * 1. A message decides only if it quotes the card and is nothing but a word of decision, and was written after the card
 *    showed the question. It is checked like a press.
 * 2. After a decision, the next reply of the same person to the card is the reason.
 * 3. All other replies go to the model, but only from the chat that asked: no other chat sees the conversation (I11).
 */
export class ApprovalReplies {
  readonly #options: ApprovalParts;

  constructor(options: ApprovalParts) {
    this.#options = options;
  }

  /** Whether a message that quotes the card of an approval is not for the model. */
  takes(approval: Approval, { author, message }: MessengerEvent, isElsewhere: boolean): boolean {
    if (message === undefined || author === undefined) return isElsewhere;
    if (isElsewhere || mayExplain(approval, author)) return true;
    return this.#decisionIn(message) !== undefined;
  }

  /**
   * Handles a reply to a card. Returns the answer to the person.
   *
   * @param shown the questions that the card shows
   */
  async take(
    shown: readonly Approval[],
    { event, handled }: Pick<FeaturePress, "event" | "handled">,
    person: MessengerAuthor,
  ): Promise<PressAnswer> {
    const [approval, ...others] = shown;
    if (approval === undefined) return undefined;
    const { message, messengerId } = event;
    const { approvals, cards, host } = this.#options;
    const say = sayTo(host.agent, person);
    const text = message === undefined ? "" : saidIn(message).trim();
    const decision = message && this.#decisionIn(message);
    if (others.length > 0) {
      const reason = decision === undefined ? text.slice(0, LONGEST_REASON) : "";
      return this.#takeOfSeveral(shown, person, { reason, handled }, say);
    }
    if (decision !== undefined && approval.state === "waiting") {
      // The card may only show the state, while others are asked elsewhere.
      if (approval.approvers.kind === "anyone" && !cards.isDecidedIn(approval, event))
        return alert(say("decidedElsewhere"));
      if (!cards.wasSeen(approval, event)) return alert(say("pressReplaced"));
      const by = { surface: "chat", person, messengerId, isTyped: true } as const;
      const result = await approvals.decisions.decide(approval.id, decision, by, handled);
      return answerOf(result, decision.kind, say, person);
    }
    if (mayExplain(approval, person) && text !== "") {
      const isFirst = approvals.decisions.explain(
        approval.id,
        person,
        text.slice(0, LONGEST_REASON),
        handled,
      );
      if (isFirst) return say(approval.state === "replaced" ? "proposesAgain" : "noted");
    }
    if (approval.state === "waiting") return alert(say("useButtons"));
    return answerOf({ kind: approval.state === "expired" ? "expired" : "late", approval }, "approve", say);
  }

  /** A word cannot tell which of several calls it is about. A reason is that of all calls that the person has rejected. */
  #takeOfSeveral(
    shown: readonly Approval[],
    person: MessengerAuthor,
    { handled, reason }: { readonly reason: string; readonly handled: () => void },
    say: Say,
  ): PressAnswer {
    const { decisions } = this.#options.approvals;
    const meant = reason === "" ? [] : shown.filter((one) => mayExplain(one, person));
    // The last one counts the message, so that no crash leaves out some of them.
    for (const one of meant)
      decisions.explain(one.id, person, reason, one === meant.at(-1) ? handled : undefined);
    return meant.length > 0 ? say("noted") : alert(say("useButtons"));
  }

  /** Whether a message looks like a decision but quotes nothing. */
  isBareWord({ message }: MessengerEvent): boolean {
    return message !== undefined && message.quoted === undefined && this.#decisionIn(message) !== undefined;
  }

  /**
   * Returns the answer to a bare word if the waiting request of the chat is the newest thing that the bot has said.
   * Otherwise the word may be about something else, and the model answers it.
   */
  hint(event: MessengerEvent): MessengerHint | undefined {
    const isMeant = (approval: Approval): boolean =>
      approval.origin?.threadId === event.thread.id && this.#isNewest(approval);
    return this.hintAt(this.#options.approvals.waiting().findLast(isMeant), event);
  }

  /** Returns the answer to a bare word that is about this request. Undefined if the request does not wait any more. */
  hintAt(approval: Approval | undefined, { author, thread }: MessengerEvent): MessengerHint | undefined {
    if (approval?.state !== "waiting") return undefined;
    const { cards, host } = this.#options;
    const text = sayTo(host.agent, author)("notADecision");
    return { text, replyTo: cards.messageIn(approval, thread.id) };
  }

  /** Whether the newest turn of the conversation has asked this, or has pointed at the card that asks it. */
  #isNewest(approval: Approval): boolean {
    const { cards, host } = this.#options;
    const newest = host.thread.own.newest();
    if (newest === undefined) return false;
    return newest === approval.requestId || cards.hasPointedAt(approval, newest);
  }

  /** The caption of a file decides nothing. */
  #decisionIn(message: MessengerMessage): TypedDecision | undefined {
    const { agent } = this.#options.host;
    return message.attachments.length === 0 ? decisionOf(saidIn(message), agent.approvalWords) : undefined;
  }
}

/** In a group people begin with the bot's name, which is no part of their answer. */
function saidIn({ text, textToBot }: MessengerMessage): string {
  return textToBot ?? text;
}
