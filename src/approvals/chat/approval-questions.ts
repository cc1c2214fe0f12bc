import { sayTo } from "../../core/text/bot-texts.ts";
import { alert, type FeaturePress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { MessengerHint, OpenQuestions } from "../../messengers/intake/open-questions.ts";
import { isReply } from "../../messengers/intake/presses.ts";
import type { Approval, DecisionResult } from "../rules/approval.ts";
import { cardPressSchema, formPressSchema } from "../rules/press-payloads.ts";
import { summaryOf } from "../rules/summary-of.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { approvalOfCard, editOfCard } from "./card-ids.ts";
import type { EditForms } from "./edit-forms.ts";
import { handOver } from "./hand-over.ts";
import { ApprovalReplies } from "./approval-replies.ts";
import { answerOf, answerOfAll, type NamedResult } from "./approval-texts.ts";
import type { OutcomeTurns } from "./outcome-turns.ts";

export interface ApprovalQuestionsOptions extends ApprovalParts {
  readonly edits: EditForms;
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
  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    const edit = editOfCard(press.cardId);
    if (edit !== undefined) return this.#pressForm(edit.id, edit.number, press);
    return approvalOfCard(press.cardId) === undefined ? undefined : this.#press(press);
  }

  /** A press is handled together with its effect. */
  storesPress(cardId: string): boolean {
    return editOfCard(cardId) !== undefined || approvalOfCard(cardId) !== undefined;
  }

  /** Whether a message that quotes this card is about its approval, and not for the model. */
  takesReply(cardId: string, event: MessengerEvent): boolean {
    const edit = editOfCard(cardId);
    if (edit !== undefined) return this.#options.edits.takes(edit.id, edit.number, event);
    const card = approvalOfCard(cardId);
    const shown = card === undefined ? [] : this.#nowOn(cardId);
    const isElsewhere = card?.isElsewhere === true || this.#options.outcomes.isAskedForOthers(shown[0]);
    return shown.some((approval) => this.#replies.takes(approval, event, isElsewhere));
  }

  isBareWord(event: MessengerEvent): boolean {
    return this.#replies.isBareWord(event);
  }

  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hint(event);
  }

  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#replies.hintAt(
      this.#nowOn(cardId).find(({ state }) => state === "waiting"),
      event,
    );
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
    const { id = "", isBrought } = approvalOfCard(cardId) ?? {};
    return this.#options.approvals.onCard(id, isBrought);
  }

  /** The questions that a card shows now. */
  #nowOn(cardId: string): readonly Approval[] {
    const shown = this.#shownOn(cardId);
    return shown.length > 1 && shown.every(({ together }) => together !== undefined)
      ? shown
      : shown.slice(-1);
  }

  async #pressForm(id: string, number: number, pressed: FeaturePress): Promise<PressAnswer> {
    const { edits, host } = this.#options;
    const { event, payload, person } = pressed;
    if (person === undefined) return alert(sayTo(host.agent, person)("pressAnonymous"));
    if (!isReply(payload))
      return edits.take(
        id,
        number,
        { kind: "press", press: formPressSchema.parse(payload).form },
        pressed,
        person,
      );
    const { message, messengerId } = event;
    if (message === undefined) return undefined;
    const { attachments, text, textToBot } = message;
    const answer = { messengerId, text: textToBot ?? text, attachments };
    return edits.take(id, number, { kind: "message", message: answer }, pressed, person);
  }

  async #press(pressed: FeaturePress): Promise<PressAnswer> {
    const { approvals, cards, host } = this.#options;
    const { cardId, event, handled, isTyped, payload, person } = pressed;
    const say = sayTo(host.agent, person);
    const shown = this.#shownOn(cardId);
    const now = this.#nowOn(cardId);
    if (isReply(payload))
      return now.length === 0 || person === undefined ? undefined : this.#replies.take(now, pressed, person);
    const press = cardPressSchema.parse(payload);
    const known = shown.find(({ id }) => id === press.approval);
    if (known === undefined || press.inputHash !== known.inputHash) return alert(say("pressUnknown"));
    if ("apart" in press)
      return approvals.questions.showApart(known.id, handled) ? undefined : alert(say("pressUnknown"));
    if ("face" in press) {
      if (now.at(-1)?.id === known.id && known.state === "waiting") {
        host.database.transaction(() => {
          handled();
          cards.turn(known, cardId, press.face);
        });
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
    const hasChanged = now.length > 1 && now.some(({ state }) => state !== "waiting");
    if (isTyped && !cards.wasSeen(known, event, hasChanged))
      return alert(say(hasChanged ? "useButtons" : "pressReplaced"));
    if ("edit" in press) return this.#options.edits.begin(known, pressed, person);
    if ("handTo" in press) return handOver(this.#options, known, press.handTo, pressed, person);
    const by = { surface: "chat", person, messengerId: event.messengerId } as const;
    if ("all" in press) {
      const results: NamedResult[] = [];
      for (const [index, { approval: id, inputHash }] of press.of.entries()) {
        // The last decision counts the press, so that no crash leaves out some of them.
        const withIt = index === press.of.length - 1 ? handled : undefined;
        const one = now.find((other) => other.id === id);
        const isShown = one?.inputHash === inputHash;
        const result: DecisionResult = isShown
          ? await approvals.decisions.decide(id, { kind: press.all }, by, withIt)
          : { kind: "unknown" };
        results.push({ name: one === undefined ? id : summaryOf(one), result });
      }
      return answerOfAll(results, press.all, say, person);
    }
    const { decision, grant } = press;
    const result = await approvals.decisions.decide(press.approval, { kind: decision, grant }, by, handled);
    return answerOf(result, decision, say, person);
  }
}
