import type { FormState } from "../../forms/form.ts";
import type { Approval, OpenEdit } from "../rules/approval.ts";
import { questionOf } from "../rules/approval-request.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { withAgreement } from "../rules/quorum.ts";
import type { ApprovalWork } from "./approval-work.ts";
import type { ConsentParts } from "./consent-parts.ts";

interface EditedQuestionsParts extends ConsentParts {
  readonly work: ApprovalWork;
}

/** The fields of a question that get new values when its input is edited. */
export type ChangedCall = Pick<
  ApprovalRequest,
  | "approvers"
  | "input"
  | "inputHash"
  | "labels"
  | "ledgerKey"
  | "offer"
  | "permissions"
  | "preview"
  | "risk"
  | "summary"
  | "summaryReads"
>;

/**
 * Questions whose input people change. The input of a stored question never changes: another question with the new input
 * takes its place, its card and its time, in one step. Nobody has agreed to that one.
 */
export class EditedQuestions {
  readonly #options: EditedQuestionsParts;

  constructor(options: EditedQuestionsParts) {
    this.#options = options;
  }

  /**
   * Stores a form that begins. An earlier one of the same question is over.
   *
   * @param withIt draws the form, in the same transaction
   */
  begin(id: string, edit: Omit<OpenEdit, "number">, withIt: (approval: Approval) => void): boolean {
    const approval = this.#waiting(id);
    if (approval === undefined) return false;
    const number = (approval.edits ?? 0) + 1;
    this.#change(approval, { edits: number, edit: { ...edit, number } }, withIt);
    return true;
  }

  /**
   * Stores a step of the open form. Returns `false` if it is over.
   *
   * @param isBelow whether the form goes on in another card
   */
  step(
    id: string,
    number: number,
    form: FormState,
    withIt: (approval: Approval) => void,
    isBelow = false,
  ): boolean {
    const approval = this.#waiting(id);
    if (approval?.edit?.number !== number) return false;
    const edits = isBelow ? number + 1 : number;
    this.#change(approval, { edits, edit: { ...approval.edit, form, number: edits } }, withIt);
    return true;
  }

  /** Ends the form without a change. */
  cancel(id: string, number: number, withIt: (approval: Approval) => void): void {
    const approval = this.#options.stored.store.get(id);
    if (approval?.edit?.number === number) this.#change(approval, { edit: undefined }, withIt);
  }

  /**
   * Asks about the changed call instead. Undefined if the question does not wait any more, its form is over, or people
   * decide about the same call already.
   *
   * @param withIt draws the end of the form, in the same transaction
   */
  replace(
    id: string,
    number: number,
    call: ChangedCall,
    withIt: (approval: Approval) => void,
  ): Approval | undefined {
    const { host, stored, work } = this.#options;
    const old = this.#waiting(id);
    if (old?.edit?.number !== number) return undefined;
    const { action, cardOf, edit, edited } = old;
    const rivals = stored.store.openFor(call.ledgerKey, action, call.inputHash);
    if (rivals.some((one) => one.id !== id)) return undefined;
    const changed: Approval = {
      ...questionOf(
        // The model's words are about another input.
        { ...old, ...call, modelWords: undefined },
        { id: host.newId(), now: host.clock.now(), cardOf: cardOf ?? id },
      ),
      agreed: undefined,
      together: undefined,
      edit: undefined,
      edited: {
        by: withAgreement({ agreed: edited?.by }, edit.by),
        original: edited?.original ?? old.input,
      },
    };
    host.database.transaction(() => {
      if (old.together !== undefined) stored.showApart(old);
      withIt(old);
      const end = { state: "replaced", isTold: true, successor: changed.id, isCardTaken: true } as const;
      stored.draw(stored.change(old, { ...end, edit: undefined }));
      stored.store.insert(changed);
      stored.draw(changed);
    });
    work.go();
    return changed;
  }

  #waiting(id: string): Approval | undefined {
    const { host, stored } = this.#options;
    const approval = stored.store.get(id);
    return approval?.state === "waiting" && host.clock.now() < approval.expiresAt ? approval : undefined;
  }

  #change(approval: Approval, change: Partial<Approval>, withIt: (approval: Approval) => void): void {
    const { host, stored } = this.#options;
    host.database.transaction(() => withIt(stored.change(approval, change)));
  }
}
