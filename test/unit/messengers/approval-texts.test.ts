import { describe, expect, it } from "vitest";
import type { Approval, ApprovalDecision, ApprovalState } from "../../../src/approvals/rules/approval.ts";
import { MESSAGE_CHANGED } from "../../../src/approvals/rules/approval.ts";
import { sayEnglish } from "../../../src/core/text/bot-texts.ts";
import { answerOf } from "../../../src/approvals/chat/approval-texts.ts";

const ADA = { userId: "ada", fullName: "Ada" };
const BOB = { userId: "bob", fullName: "Bob" };

type Kind = ApprovalDecision["kind"];

/** Returns the answer to a press after Ada's decision, and whether it is a dialog. */
function answered(state: ApprovalState, decision: Kind, by = ADA, more: Partial<Approval> = {}) {
  const approval = { state, decidedBy: { surface: "chat", person: ADA }, ...more } as Approval;
  const answer = answerOf({ kind: "late", approval }, decision, sayEnglish, by);
  return typeof answer === "object" ? [answer.text, answer.alert] : [answer, false];
}

describe("a press after the decision", () => {
  it.each([
    ["approved", "approve", "Approved."],
    ["running", "approve", "Approved."],
    ["done", "approve", "Approved."],
    ["failed", "approve", "Approved."],
    ["rejected", "reject", "Rejected."],
    ["replaced", "change", "OK. Reply to the card with what should change."],
    ["withdrawn", "withdraw", "Taken back."],
  ] as const)("opens no dialog for the same decision of the same person: %s, %s", (state, decision, text) => {
    expect(answered(state, decision)).toEqual([text, false]);
  });

  it("opens no dialog for a decision that another person has made before", () => {
    expect(answered("approved", "approve", BOB)).toEqual([
      "This was decided before by Ada: approved.",
      false,
    ]);
    expect(answered("rejected", "reject", BOB)).toEqual(["This was decided before by Ada: rejected.", false]);
  });

  it("asks for no changes again once there is a newer request", () => {
    const [text, isDialog] = answered("replaced", "change", ADA, { successor: "newer" });
    expect(text).toMatch(/^This was decided before by Ada/);
    expect(isDialog).toBe(false);
  });

  it.each([
    ["approved", "reject", ADA],
    ["rejected", "approve", ADA],
    ["approved", "withdraw", BOB],
    ["withdrawn", "approve", BOB],
    ["replaced", "approve", BOB],
  ] as const)("opens a dialog if something else was decided: %s, %s", (state, decision, by) => {
    const [text, isDialog] = answered(state, decision, by);
    expect(text).toMatch(/^This was decided before by Ada/);
    expect(isDialog).toBe(true);
  });

  it("opens a dialog if the request went away by itself", () => {
    const undecided = { decidedBy: undefined };
    expect(answered("replaced", "change", ADA, undecided)[1]).toBe(true);
    expect(answered("replaced", "change", ADA, { ...undecided, reason: MESSAGE_CHANGED })[1]).toBe(true);
    expect(answered("void", "approve", ADA, { reason: "chat-gone" })[1]).toBe(true);
  });
});
