import type { Approval } from "../rules/approval.ts";
import type { CardFace } from "../rules/card-view.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { Say } from "../../core/bot-texts.ts";
import { alert } from "../../core/card-press.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/messenger-event.ts";
import type { MessengerHint } from "../../messengers/intake/open-questions.ts";
import { isReply } from "../../messengers/intake/presses.ts";
import { approvalOfCard } from "./approval-cards.ts";
import type { ApprovalReplies } from "./approval-replies.ts";
import { answerOf } from "./approval-texts.ts";
import { faceSchema, pressSchema } from "./press-payloads.ts";

export interface ApprovalPressesOptions {
  readonly approvals: Pick<Approvals, "onCard" | "decide">;
  readonly replies: ApprovalReplies;
  /** Returns the texts for a person. */
  readonly say: (person: MessengerAuthor | undefined) => Say;
  /** Whether the writer of a message had seen the question on its card. */
  readonly wasSeen: (approval: Approval, event: MessengerEvent) => boolean;
  /** Shows the other face of a card. */
  readonly turn: (approval: Approval, cardId: string, face: CardFace) => void;
  /** Whether a question was asked in the chat of its schedule's owner. */
  readonly isAskedForOthers: (approval: Approval | undefined) => boolean;
}

/** Presses of the cards of approvals, and messages that are about such a card. */
export class ApprovalPresses {
  readonly #options: ApprovalPressesOptions;

  constructor(options: ApprovalPressesOptions) {
    this.#options = options;
  }

  /** Takes a press of an approval's card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return approvalOfCard(press.cardId) === undefined ? undefined : this.#press(press);
  }

  /** Whether a message that quotes this card is about its approval, and not for the model. */
  takesReply(cardId: string, event: MessengerEvent): boolean {
    const card = approvalOfCard(cardId);
    const approval = card && this.#options.approvals.onCard(card.id).at(-1);
    const isElsewhere = card?.isElsewhere === true || this.#options.isAskedForOthers(approval);
    return approval !== undefined && this.#options.replies.takes(approval, event, isElsewhere);
  }

  /** See `OpenQuestions.isBareWord`. */
  isBareWord(event: MessengerEvent): boolean {
    return this.#options.replies.isBareWord(event);
  }

  /** See `OpenQuestions.hint`. */
  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#options.replies.hint(event);
  }

  /** See `OpenQuestions.hintAt`. */
  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#options.replies.hintAt(
      this.#options.approvals.onCard(approvalOfCard(cardId)?.id ?? "").at(-1),
      event,
    );
  }

  async #press({ cardId, event, isTyped, payload, person }: CardPress): Promise<PressAnswer> {
    const say = this.#options.say(person);
    const shown = this.#options.approvals.onCard(approvalOfCard(cardId)?.id ?? "");
    const newest = shown.at(-1);
    if (isReply(payload))
      return newest === undefined || person === undefined
        ? undefined
        : this.#options.replies.take(newest, event, person);
    const turned = faceSchema.safeParse(payload);
    const press = turned.success ? turned.data : pressSchema.parse(payload);
    const known = shown.find(({ id }) => id === press.approval);
    if (known === undefined || press.inputHash !== known.inputHash) return alert(say("pressUnknown"));
    if ("face" in press) {
      if (known === newest && known.state === "waiting") {
        this.#options.turn(known, cardId, press.face);
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
    if (isTyped && !this.#options.wasSeen(known, event)) return alert(say("pressReplaced"));
    const { decision, grant } = press;
    const by = { surface: "chat", person, messengerId: event.messengerId } as const;
    const result = await this.#options.approvals.decide(press.approval, { kind: decision, grant }, by);
    return answerOf(result, decision, say, person);
  }
}
