import { expect, it } from "vitest";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import { createApprovalIndexStore } from "../../../src/approvals/stored/approval-index-store.ts";
import { indexedApprovalOf } from "../../../src/approvals/rules/approval-index.ts";
import type { ApprovalReport, IndexedApproval } from "../../../src/approvals/rules/approval-index.ts";
import { ApprovalNews } from "../../../src/approvals/chat/approval-news.ts";
import type { ApprovalsHost } from "../../../src/approvals/rules/bot-methods.ts";
import { ApprovalIndex } from "../../../src/approvals/root/approval-index.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const approval = (state: Approval["state"], id = "a1"): Approval =>
  ({
    id,
    state,
    requestId: "turn",
    toolCallId: "call",
    action: "pay",
    summary: "Pay 4111111111 by card",
    input: { card: { number: "4111111111" }, cents: 500, notes: [{ text: "4111111111" }] },
    inputHash: "hash",
    sensitive: ["card.number", "notes.text"],
    permissions: [],
    approvers: { kind: "anyone" },
    askedIn: [],
    kind: "approval-gated",
    createdAt: 1,
    expiresAt: 2,
    ...(state !== "waiting" && { endedAt: 3 }),
  }) as unknown as Approval;

function createRig() {
  const database = createNodeDatabase();
  const index = createApprovalIndexStore(createNodeDatabase());
  const requested: string[] = [];
  const clock = createVirtualClock();
  let isReachable = true;
  const start = (): ApprovalNews =>
    new ApprovalNews({
      database,
      deps: { clock },
      engine: { events: new TurnEvents(clock) },
      log: recordLog().log,
      agent: {
        onApprovalRequested: ({ executionId }: IndexedApproval) => void requested.push(executionId),
      },
      objects: {
        address: () => "thread:any:1",
        root: () => ({
          noteApproval: async (told: ApprovalReport) => {
            if (!isReachable) throw new Error("The root is away.");
            index.put(told);
          },
        }),
      },
    } as unknown as ApprovalsHost);
  return { clock, index, requested, start, reach: (can: boolean) => void (isReachable = can) };
}

it("tells the root each state in order, also after a crash, and the bot each request", async () => {
  const { clock, index, reach, requested, start } = createRig();
  const first = start();
  reach(false);
  first.changed(approval("waiting"));
  first.changed(approval("done"));
  first.tell();
  await clock.settle();
  expect(first.tellAgainAt).toBe(clock.now() + 5_000);
  expect([index.get("a1"), requested]).toEqual([undefined, []]);
  // The process dies.
  reach(true);
  const second = start();
  second.tell();
  await clock.settle();
  expect(index.get("a1")).toMatchObject({ state: "done", conversation: "thread:any:1" });
  expect(index.waiting(undefined, 10)).toEqual([]);
  expect(requested).toEqual(["a1"]);
  expect(second.tellAgainAt).toBeUndefined();
});

it("masks sensitive values in the input and the summary", async () => {
  const { clock, index, start } = createRig();
  const news = start();
  news.changed(approval("waiting"));
  news.tell();
  await clock.settle();
  expect(JSON.stringify(index.get("a1"))).not.toContain("4111111111");
  expect(index.get("a1")?.descriptor.input).toEqual({
    card: { number: "•••" },
    cents: 500,
    notes: [{ text: "•••" }],
  });
});

it("never lets an old report open an ended approval again", () => {
  const { index } = createRig();
  const indexed = (state: Approval["state"]): IndexedApproval =>
    ({
      executionId: "a1",
      state,
      createdAt: 1,
      ...(state !== "waiting" && { endedAt: 3 }),
    }) as unknown as IndexedApproval;
  index.put({ approval: indexed("waiting"), keys: ["k"] });
  index.put({ approval: indexed("done"), keys: [] });
  index.put({ approval: indexed("waiting"), keys: ["k"] });
  expect(index.get("a1")?.state).toBe("done");
});

it("is found at the root as long as the bot keeps approvals", async () => {
  const clock = createVirtualClock();
  const day = 24 * 60 * 60 * 1000;
  const index = new ApprovalIndex({
    database: createNodeDatabase(),
    deps: { clock },
    agent: { keepApprovalsMs: 100 * day },
  } as unknown as ApprovalsHost);
  const note = (id: string): Promise<void> => {
    const ended = { ...approval("done", id), createdAt: clock.now(), endedAt: clock.now() };
    return index.noteApproval({ approval: indexedApprovalOf(ended, "thread:any:1"), keys: [] });
  };
  const listed = (): string[] => index.list({}).map(({ executionId }) => executionId);
  await note("old");
  await clock.advance(99 * day);
  await note("newer");
  expect(listed()).toEqual(["newer", "old"]);
  await clock.advance(2 * day);
  await note("newest");
  expect(listed()).toEqual(["newest", "newer"]);
  // A page is bounded, whatever the caller asks for.
  for (let count = 0; count < 250; count += 1) await note(`many${count}`);
  expect(index.list({ limit: 1_000 })).toHaveLength(200);
});
