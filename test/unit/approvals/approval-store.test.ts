import { expect, it } from "vitest";
import { ApprovalStore } from "../../../src/approvals/stored/approval-store.ts";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";

const ADA = { userId: "ada", userName: "ada", fullName: "Ada" };
const CHAT = { messengerId: "telegram", threadId: "t:1", chatId: "1", isDirectMessage: true };
const BY_ADA = { surface: "chat", messengerId: "telegram", person: ADA } as const;

/** Each field has another value than a row without it. The compiler reports a missing one. */
const APPROVAL: { readonly [Field in keyof Required<Approval>]: Approval[Field] } = {
  id: "one",
  action: "refund",
  toolCallId: "call",
  requestId: "turn",
  ledgerKey: "key",
  input: { order: 7 },
  inputHash: "hash",
  summary: "Refund order 7",
  summaryReads: ["order"],
  labels: { order: "Order" },
  risk: "high",
  permissions: ["refunds"],
  kind: "durable-pause",
  sensitive: ["card.number"],
  rootRequest: "root",
  offer: { scope: "all", words: "All refunds", calls: 2, sum: { value: 5, currency: "EUR" } },
  isInline: true,
  isTool: true,
  modelWords: "It was broken.",
  preview: [{ label: "Stock", from: 1, to: 2 }],
  requester: ADA,
  people: [ADA],
  origin: CHAT,
  messageId: "5",
  askedIn: [{ address: CHAT, who: "Ada" }],
  broughtTo: [CHAT],
  unreached: [{ who: "Bob", why: "gone" }],
  approvers: { kind: "people", userIds: ["ada"] },
  requesterMayApprove: true,
  quorum: 2,
  agreed: [BY_ADA],
  escalateTo: { kind: "people", userIds: ["eve"] },
  escalateAt: 3,
  escalatedAt: 4,
  isEditable: true,
  edited: { by: [BY_ADA], original: { order: 6 } },
  edit: {
    number: 1,
    by: BY_ADA,
    address: CHAT,
    form: { at: { kind: "summary" }, values: { order: 8 }, skipped: [] },
  },
  edits: 1,
  handedTo: { to: "Eve", by: "Ada" },
  remindAt: 2,
  createdAt: 1,
  expiresAt: 9,
  state: "rejected",
  decidedAt: 5,
  decidedBy: BY_ADA,
  reason: "No.",
  outcome: { error: "refused" },
  endedAt: 6,
  isExplained: true,
  successor: "two",
  drawnState: "rejected",
  isTold: true,
  schedule: { keeper: "", taskId: "night", revision: "1" },
  channel: "web",
  scopes: ["refunds"],
  outside: {
    caller: { id: "c", name: "Shop" },
    canAsk: true,
    payer: { messengerId: "mcp", chatId: "c", userId: "ada" },
  },
  cardOf: "zero",
  together: "zero",
  isGivenBack: true,
  asksPeople: true,
  isCardTaken: true,
};

it("keeps all fields of an approval", () => {
  const store = new ApprovalStore(createNodeDatabase());
  store.makeTable();
  store.insert(APPROVAL);
  expect(store.get("one")).toEqual(APPROVAL);
});
