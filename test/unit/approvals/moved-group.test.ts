import { expect, it } from "vitest";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import type { ApprovalParts } from "../../../src/approvals/chat/approval-parts.ts";
import { decidedIn } from "../../../src/approvals/chat/approval-cards.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { seeApprovals } from "../../../src/approvals/chat/seen-approvals.ts";

const group = (id: string): Address => ({
  messengerId: "any",
  threadId: `any:${id}`,
  chatId: id,
  isDirectMessage: false,
});
const [BEFORE, TODAY, TEAM] = [group("1"), group("2"), group("3")];
const threadToday = ({ threadId }: Address): string =>
  threadId === BEFORE.threadId ? TODAY.threadId : threadId;

/** Anyone in the team's chat may decide. The group that asked has moved, and has got its card again. */
const APPROVAL = {
  id: "a1",
  requestId: "r1",
  state: "waiting",
  approvers: { kind: "anyone" },
  requesterMayApprove: true,
  requester: { userId: "1" },
  summary: "Refund",
  sensitive: [],
  input: {},
  createdAt: 0,
  expiresAt: 100,
  origin: BEFORE,
  askedIn: [{ address: TEAM, who: undefined }],
  broughtTo: [TODAY],
  unreached: [],
} as unknown as Approval;

it("asks nobody in a group that has moved if people are asked in another chat", async () => {
  expect(decidedIn(APPROVAL, threadToday)).toEqual([TEAM]);
  const thread = { id: TODAY.threadId, chatId: TODAY.chatId, isDirectMessage: false };
  const viewer = { messengerId: "any", person: { userId: "2" }, thread };
  const seen = await seeApprovals([APPROVAL], viewer, {
    approvers: { mayDecide: () => Promise.resolve(true), mayDecideFrom: () => Promise.resolve(false) },
    cards: {
      placeToday: (address: Address) => ({ ...address, messengerId: "any", threadId: threadToday(address) }),
      messageIn: () => undefined,
    },
    host: { agent: {}, deps: { clock: createVirtualClock(1) } },
  } as unknown as ApprovalParts);
  expect(seen).toMatchObject([{ isHere: true, isMine: false }]);
});
