import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAction } from "../../../src/actions/declare/define-action.ts";

const payOut = {
  description: "Pays money out.",
  inputSchema: z.object({ cents: z.number() }),
  execute: () => "paid",
};
/** As a bot in JavaScript, or one that nobody has checked with the compiler, defines an action. */
const defined = (options: object) => () => defineAction({ ...payOut, ...options });

describe("an action with a mistake", () => {
  it.each([
    { option: "aproval", value: true, meant: "approval" },
    { option: "aprovers", value: ["4711"], meant: "approvers" },
    { option: "idempotenceKey", value: "one", meant: "idempotencyKey" },
  ])("is refused instead of running without $meant", ({ meant, option, value }) => {
    expect(defined({ [option]: value })).toThrow(
      expect.objectContaining({
        code: "action-option-invalid",
        message: `${option} of the action "Pays money out." does not exist. Did you mean "${meant}"?`,
      }),
    );
  });

  it.each([[[undefined]], [["4711", ""]], [[null]]])(
    "says that a variable is not set: approvers %j",
    (approvers) => {
      expect(defined({ approvers })).toThrow(
        expect.objectContaining({
          code: "action-option-invalid",
          message: expect.stringMatching(/^approvers of the action .* a value that is not set: .*variable/),
        }),
      );
    },
  );

  it("lists the options if none is like it", () => {
    expect(defined({ colour: "red" })).toThrow(/Use any of: description, inputSchema, execute, .*approval/);
  });

  it.each([
    { approval: "yes" },
    { approval: 1 },
    { approvers: 4711 },
    { approvers: "4711" },
    { approvers: [{ userId: "4711" }] },
    { approvers: { roles: ["billing"] } },
    { approvalRisk: "enormous" },
    { requesterMayApprove: "no" },
    { kind: "durable" },
    { permissions: "billing" },
    { sensitive: "card.number" },
    { idempotencyScope: "all" },
    { grantable: false },
    { askIn: "approvers-dm" },
    { annotations: { destructive: "yes" } },
    { annotations: { destuctive: true } },
  ])("is refused with the values that its option takes: %j", (wrong) => {
    const [option = ""] = Object.keys(wrong);
    expect(defined(wrong)).toThrow(
      expect.objectContaining({
        code: "action-option-invalid",
        message: expect.stringMatching(
          new RegExp(`^${option}[.\\w]* of the action "Pays money out\\." (must be |does not exist)`),
        ),
      }),
    );
  });

  it("is named by its own name", () => {
    expect(defined({ name: "pay_out", timeoutMs: -1 })).toThrow(/The timeoutMs of the action "pay_out" must/);
    expect(defined({ name: "pay_out", approval: true, requesterMayApprove: false })).toThrow(
      /the action "pay_out" names nobody else/,
    );
  });
});

describe("an action", () => {
  it.each([
    { approval: true, approvers: [4711, "4712"], approvalRisk: "high", sensitive: ["iban"] },
    { approval: () => false, approvers: { role: "billing" }, permissions: ["billing"] },
    { kind: "durable-pause", approvers: () => true, approvalRisk: () => "low", permissions: () => [] },
    { approval: undefined, approvers: undefined, kind: undefined, requesterMayApprove: undefined },
    { approval: true, approvers: "anyone", requesterMayApprove: false },
    { idempotencyScope: "bot", grantable: true, askIn: "here", annotations: { destructive: true } },
    { grantable: () => undefined, askIn: { messenger: "telegram", chatId: "-1" }, annotations: {} },
  ])("may have these options: %j", (options) => {
    expect(defined(options)).not.toThrow();
  });
});
