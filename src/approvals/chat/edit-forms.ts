import type { Action } from "../../actions/declare/action.ts";
import { inputLabels } from "../../actions/declare/input-labels.ts";
import { sayTo } from "../../core/text/bot-texts.ts";
import { alert, type FeaturePress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { SchemaIssue } from "../../core/json/check-value.ts";
import type { Json } from "../../core/message/content.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/chat/messenger-event.ts";
import { isOutsideRequest } from "../../core/action/outside-call.ts";
import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import { zoneOf } from "../../feature/bot-time.ts";
import { answeredCard, formCard } from "../../forms/form-card.ts";
import { formOf } from "../../forms/form-of.ts";
import { askedAt, beginForm } from "../../forms/form-places.ts";
import type { Form, FormContext, FormEvent, FormField, FormState } from "../../forms/form.ts";
import { stepForm } from "../../forms/step-form.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import type { Approval, OpenEdit } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { isGrantable } from "../rules/grant.ts";
import { nameOf, resultWords } from "../rules/outcome-words.ts";
import { summaryOf } from "../rules/summary-of.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { editCardIdOf } from "./card-ids.ts";
import { answerOf } from "./approval-texts.ts";
import { factsOfApproval } from "./outcome-facts.ts";

/** A form that its approver sends. */
interface SentForm {
  readonly edit: OpenEdit;
  readonly form: Form;
  readonly state: FormState;
  readonly value: Json;
  /** See `FeaturePress.handled`. */
  readonly handled: () => void;
}

/**
 * The forms in which approvers change the input of a question.
 *
 * 1. Only the approver who opened a form moves it on. The right to decide is checked at its begin and at its end.
 * 2. The changed input is checked like one of the model: schema, permissions, key. A new question asks about it.
 * 3. A form is over when somebody decides, or opens another one.
 */
export class EditForms {
  readonly #options: ApprovalParts;

  constructor(options: ApprovalParts) {
    this.#options = options;
  }

  /** An approver wants to change the input. Returns the private word. */
  async begin(
    approval: Approval,
    { event, handled }: FeaturePress,
    person: MessengerAuthor,
  ): Promise<PressAnswer> {
    const { approvals, approvers, cards, host } = this.#options;
    const say = sayTo(host.agent, person);
    const by = { surface: "chat", person, messengerId: event.messengerId } as const;
    if (approval.state !== "waiting") return answerOf({ kind: "late", approval }, "approve", say);
    if (!(await approvers.mayDecide(approval, by)))
      return answerOf({ kind: "not-allowed", approval }, "approve", say, person);
    const form = await this.#formOf(approval);
    if (form === undefined) return alert(say("editNotPossible"));
    const edit = { by, address: addressOf(event), form: beginForm(form, approval.input) };
    const isBegun = approvals.edited.begin(approval.id, edit, (begun) => {
      handled();
      if (approval.edit !== undefined) cards.endEdit(approval, approval.edit);
      this.#draw(begun, form);
    });
    return isBegun ? undefined : alert(say("decidedByNow"));
  }

  /** A press of a form's card, or a reply to it. Returns the private word. */
  async take(
    id: string,
    number: number,
    event: FormEvent,
    { event: { messengerId }, handled }: FeaturePress,
    person: MessengerAuthor,
  ): Promise<PressAnswer> {
    const { approvals, cards, host } = this.#options;
    const say = sayTo(host.agent, person);
    const approval = approvals.get(id);
    const edit = approval?.edit;
    if (approval === undefined || edit?.number !== number) return alert(say("editOver"));
    if (edit.by.person?.userId !== person.userId || edit.by.messengerId !== messengerId)
      return alert(say("editNotYours", { name: edit.by.person === undefined ? "" : nameOf(edit.by.person) }));
    const form = await this.#formOf(approval);
    if (form === undefined) return alert(say("editNotPossible"));
    const step = stepForm(form, edit.form, event, this.#contextOf(approval, edit));
    if (step.result?.kind === "cancel") {
      approvals.edited.cancel(id, number, (ended) => {
        handled();
        cards.endEdit(ended, edit);
      });
      return say("editCancelled");
    }
    if (step.result?.kind === "send")
      return this.#send(approval, { edit, form, handled, state: step.state, value: step.result.value });
    if (step.state === edit.form) return undefined;
    const field = askedAt(form, edit.form);
    const isBelow = event.kind === "message" && step.problem === undefined && this.#canLeave(edit);
    const draw = (moved: Approval): void => {
      handled();
      if (isBelow && field !== undefined) this.#leave(approval, edit, field, step.state);
      this.#draw(moved, form);
    };
    if (!approvals.edited.step(id, number, step.state, draw, isBelow)) return alert(say("editOver"));
    return event.kind === "message" && step.problem !== undefined ? alert(step.problem) : undefined;
  }

  /** A card that cannot change is posted again in any case. */
  #canLeave({ address: { messengerId } }: OpenEdit): boolean {
    const { messengers } = this.#options.host;
    return messengers.isDeclared(messengerId) && messengers.surface(messengerId).capabilities.edit;
  }

  /** Leaves a card above the message that has answered its field: people do not see that a card changes up there. */
  #leave(approval: Approval, edit: OpenEdit, field: FormField, after: FormState): void {
    const context = { ...this.#contextOf(approval, edit), message: this.#titleOf(approval, edit) };
    const card = answeredCard(field, after, context);
    this.#options.cards.drawEdit(editCardIdOf(approval, edit.number), edit.address, card);
  }

  /** Whether a message that quotes a form's card is an answer to it. */
  takes(id: string, number: number, { author, thread }: MessengerEvent): boolean {
    const { edit, origin } = this.#options.approvals.get(id) ?? {};
    // Another chat than the one that asked has no conversation about it.
    if (origin?.threadId !== thread.id) return true;
    return edit?.number === number && author !== undefined && edit.by.person?.userId === author.userId;
  }

  async #send(approval: Approval, { edit, form, handled, state, value }: SentForm): Promise<PressAnswer> {
    const { approvals, approvers, cards, host } = this.#options;
    const { by, number } = edit;
    const say = sayTo(host.agent, by.person);
    const again = (issues: readonly SchemaIssue[]): PressAnswer => {
      const refused = stepForm(form, state, { kind: "refused", issues }, this.#contextOf(approval, edit));
      approvals.edited.step(approval.id, number, refused.state, (moved) => {
        handled();
        this.#draw(moved, form);
      });
      return undefined;
    };
    const action = this.#actionOf(approval);
    if (action === undefined) return alert(say("editNotPossible"));
    const { action: name, requestId, toolCallId } = approval;
    const facts = factsOfApproval(approval);
    const edited = await host.actions.editedQuestion({ name, input: value, requestId, toolCallId, facts });
    if (edited.kind === "refused") {
      const { failure } = edited;
      const { issues = [{ path: [], message: resultWords(failure as unknown as Json, say) }] } =
        failure.error;
      return again(issues);
    }
    const { question } = edited;
    if (question.inputHash === approval.inputHash) {
      approvals.edited.cancel(approval.id, number, (ended) => {
        handled();
        cards.endEdit(ended, edit);
      });
      return say("editNothing");
    }
    const call = {
      input: question.input,
      inputHash: question.inputHash,
      ledgerKey: question.ledgerKey,
      summary: question.summary,
      summaryReads: question.summaryReads,
      risk: question.risk,
      permissions: question.permissions,
      preview: await question.preview(),
      labels: await inputLabels(action, approval.requester?.language),
      approvers: await approvers.ruleOf(question, facts),
    };
    const asked: ApprovalRequest = { ...approval, ...call, offer: question.offer };
    const offer = isGrantable(asked) ? question.offer : undefined;
    if (await approvers.isNobody(asked)) return again([{ path: [], message: say("approversMissing") }]);
    // The checks took time. The form may be over by now, and the person may have lost the right.
    if (!(await approvers.mayDecide(approval, by)))
      return answerOf({ kind: "not-allowed", approval }, "approve", say, by.person);
    const changed = approvals.edited.replace(approval.id, number, { ...call, offer }, (old) => {
      handled();
      cards.endEdit(old, edit);
    });
    return changed === undefined ? alert(say("editOver")) : say("editDone");
  }

  #actionOf({ action }: Approval): Action | undefined {
    try {
      return this.#options.host.actions.named(action);
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  async #formOf(approval: Approval): Promise<Form | undefined> {
    const action = this.#actionOf(approval);
    return action === undefined ? undefined : formOfAction(action, approval);
  }

  #titleOf(approval: Approval, { by: { person } }: OpenEdit): string {
    const name = person === undefined ? "" : nameOf(person);
    const say = sayTo(this.#options.host.agent, person);
    return `**${escapeMarkdown(say("editTitle", { name, what: summaryOf(approval) }))}**`;
  }

  #contextOf(approval: Approval, edit: OpenEdit): FormContext {
    const { agent, deps, messengers } = this.#options.host;
    const { address, by } = edit;
    const say = sayTo(agent, by.person);
    const title = this.#titleOf(approval, edit);
    return {
      message: edit.form.at.kind === "field" ? `${title}\n\n${escapeMarkdown(say("editHint"))}` : title,
      say,
      language: by.person?.language,
      timeZone: zoneOf(agent) ?? "UTC",
      now: deps.clock.now(),
      isPrivate: address.isDirectMessage,
      surface: messengers.surface(address.messengerId).capabilities,
      payloadOf: (press) => ({ form: { ...press } }),
    };
  }

  #draw(approval: Approval, form: Form): void {
    const { edit } = approval;
    if (edit === undefined) return;
    const card = formCard(form, edit.form, this.#contextOf(approval, edit));
    this.#options.cards.drawEdit(editCardIdOf(approval, edit.number), edit.address, card);
  }
}

/** Returns the form that changes the input of a call. Undefined if none can, or people must not. */
export async function formOfAction(
  action: Action,
  {
    input,
    isTool,
    labels = {},
    requestId,
    schedule,
    sensitive,
  }: Pick<ApprovalRequest, "input" | "isTool" | "labels" | "requestId" | "schedule" | "sensitive">,
): Promise<Form | undefined> {
  // The callers of other systems and the runs of schedules wait for the call that they know.
  if (isTool || schedule !== undefined || isOutsideRequest(requestId)) return undefined;
  try {
    const found = await formOf(action.inputSchema, { edits: input, labels, sensitive, hasHelp: false });
    return found.kind === "form" ? found.form : undefined;
  } catch {
    // The schema's library cannot describe it.
    return undefined;
  }
}
