import { expect, it } from "vitest";
import { BoxStore } from "../../../delivery/budget/box-store.ts";
import { CardIndexStore } from "../../../delivery/budget/card-index-store.ts";
import { GateStore } from "../../../delivery/budget/gate-store.ts";
import { FileStore } from "../../../delivery/files/file-store.ts";
import { SentFileStore } from "../../../delivery/files/sent-file-store.ts";
import { MarkStore } from "../../../delivery/marks/mark-store.ts";
import { MoveStore } from "../../../delivery/outbox/move-store.ts";
import { OutboxStore } from "../../../delivery/outbox/outbox-store.ts";
import { ReplyStore } from "../../../delivery/outbox/reply-store.ts";
import { RICH_RESTS } from "../../../delivery/outbox/rich-fallback.ts";
import { LazyTables } from "../../../src/core/store/lazy-tables.ts";
import { Table } from "../../../src/core/store/table.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { AttachmentStore } from "../../../src/actions/attachments/attachment-store.ts";
import { LedgerStore } from "../../../src/actions/ledger/ledger-store.ts";
import { AllowanceStore } from "../../../src/approvals/stored/allowance-store.ts";
import { createApprovalIndexStore } from "../../../src/approvals/stored/approval-index-store.ts";
import { createApprovalNewsStore } from "../../../src/approvals/stored/approval-news-store.ts";
import { ApprovalStore } from "../../../src/approvals/stored/approval-store.ts";
import { GrantStore } from "../../../src/approvals/stored/grant-store.ts";
import { createBroadcastStore } from "../../../src/broadcasts/broadcast-store.ts";
import { createSubscriberStore } from "../../../src/broadcasts/subscriber-store.ts";
import type { Database } from "../../../src/core/store/database.ts";
import { createInboxStore } from "../../../src/inbox/inbox-store.ts";
import { createNoteStore } from "../../../src/inbox/note-store.ts";
import { createPromptStore } from "../../../src/inbox/prompt-store.ts";
import { createCardStore } from "../../../src/messengers/replies/card-store.ts";
import { createThreadMemoryStore } from "../../../src/messengers/replies/thread-memory-store.ts";
import { createChatStore } from "../../../src/messengers/root/chats/chat-store.ts";
import { createConversationClassStore } from "../../../src/messengers/root/conversation-class-store.ts";
import { createRootStore } from "../../../src/messengers/root/root-store.ts";
import { createTokenUsageStore } from "../../../src/messengers/root/token-usage-store.ts";
import { createUsageStore } from "../../../src/messengers/root/usage-store.ts";
import { QuestionStore } from "../../../src/questions/question-store.ts";
import { ParkedCallStore } from "../../../src/replay/parked-call-store.ts";
import { RunLogStore } from "../../../src/replay/run-log-store.ts";
import { createScheduledRunStore } from "../../../src/scheduled-runs/scheduled-run-store.ts";
import { createChatScheduleStore } from "../../../src/schedules/stored/chat-schedule-store.ts";
import { createPersonZoneStore } from "../../../src/schedules/stored/person-zone-store.ts";
import { createScheduleStore } from "../../../src/schedules/stored/schedule-store.ts";
import { createTranscriptStore } from "../../../src/turn/transcript-store.ts";
import { createTurnStore } from "../../../src/turn/turn-store.ts";
import { createWaitStore } from "../../../src/turn/wait-store.ts";
import stored from "../../fixtures/stored-tables.json" with { type: "json" };

const address = { messengerId: "m", threadId: "t", chatId: "c", isDirectMessage: true };
const move = { from: { chatId: "c", threadId: "t" }, to: { chatId: "d", threadId: "u" } };

/** Opens every store, and lets those with lazy tables make them. */
function makeTables(database: Database): void {
  const stores = [BoxStore, GateStore, ReplyStore, OutboxStore, LedgerStore].map(
    (Store) => new Store(database),
  );
  expect(stores).toHaveLength(5);
  for (const create of [
    createInboxStore,
    createThreadMemoryStore,
    createChatStore,
    createTurnStore,
    createUsageStore,
  ])
    create(database);
  const root = createRootStore(database);
  root.conversationIn("m", "t");
  createConversationClassStore(database).put({ conversation: "c", className: "A", chosenClass: "B" });
  new CardIndexStore(database).write(
    {
      key: "k",
      messengerId: "m",
      chatId: "c",
      threadId: "t",
      speaker: "s",
      options: 0,
      revision: 1,
      messageIds: [],
    },
    1,
  );
  new FileStore(database).begin(1);
  new SentFileStore(database).remember({ messengerId: "m", kind: "photo", hash: "h" }, "f", 1);
  new MarkStore(database).insert({
    id: "a",
    address,
    mark: { kind: "pin", messageId: "1" },
    state: "final",
    createdAt: 1,
  });
  new MoveStore(database).write("m", move);
  new ReplyStore(database).markGone(address, "gone");
  new Table(new LazyTables(database, RICH_RESTS), RICH_RESTS).put({ messengerId: "m", until: 1 });
  new AttachmentStore(database).insert({ owner: "o", runId: "r", ledgerKey: "k" }, "{}", 1);
  createApprovalNewsStore(database).add({ approval: {}, keys: [] } as never);
  createApprovalIndexStore(database).put({
    approval: { executionId: "e", state: "done", createdAt: 1, conversation: "c" },
    keys: [],
  } as never);
  new ApprovalStore(database).makeTable();
  new GrantStore(database).makeTable();
  new AllowanceStore(database).giveBack("a");
  new QuestionStore(database).makeTable();
  new ParkedCallStore(database).makeTable();
  new RunLogStore(database).makeTable();
  createBroadcastStore(database).insert({
    id: "b",
    hash: "h",
    work: { kind: "content", content: "Hello", informModel: false },
    isSubscribed: false,
    createdAt: 1,
    expiresAt: 2,
  });
  createSubscriberStore(database).add(address, 1);
  createNoteStore(database).add("n", { text: "Hello", at: 1 });
  createPromptStore(database).insert({
    id: "p",
    kind: "prompt",
    idempotencyKey: undefined,
    messages: [],
    answerTo: [],
    metadata: undefined,
    createdAt: 1,
    hash: undefined,
  });
  const cards = createCardStore(database);
  cards.beginPress("e", 1, false);
  cards.insert(
    { id: "c", key: "k", messengerId: "m", chatId: "c", buttons: [], isRemoved: false, owner: "" },
    1,
  );
  createTokenUsageStore(database).add(
    {
      turnId: "t",
      messengerId: "m",
      chatId: "c",
      userId: "u",
      at: 1,
      inputTokens: 1,
      outputTokens: 1,
      cost: 1,
    },
    0,
  );
  createUsageStore(database).begin({ messengerId: "m", userId: "u", threadId: "t", beganAt: 1, lastAt: 1 });
  createScheduledRunStore(database).prepare();
  createChatScheduleStore(database).nextId();
  createPersonZoneStore(database).set({ messengerId: "m", userId: "u" }, "UTC", 1);
  createScheduleStore(database).saveTask({
    id: "t",
    rule: { kind: "every", everyMs: 1 } as never,
    anchor: 1,
    next: undefined,
    runs: 0,
    failures: 0,
    isPaused: false,
    sourceHash: undefined,
    createdAt: 1,
  });
  createTranscriptStore(database).write("f", { text: "Hello" });
  createWaitStore(database).write(
    "o",
    { waitedMs: 0, waitingSince: undefined, isOver: false, answersBy: undefined },
    1,
  );
}

/** Returns the statements that have made the tables and indexes, by name, as SQLite has stored them, on one line. */
function statementsOf(database: Database): Record<string, string> {
  const rows = database.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return Object.fromEntries(rows.map(({ name, sql }) => [name, onOneLine(sql)]));
}

/** SQLite keeps the white space of whoever wrote a statement. Everything else must be the same. */
function onOneLine(statement: string): string {
  return statement.replaceAll(/\s+/g, " ").replaceAll("( ", "(").replaceAll(" )", ")");
}

it("makes the tables that every object on disk has", () => {
  const database = createNodeDatabase();
  makeTables(database);
  const expected = Object.entries(stored).map(([name, sql]) => [name, onOneLine(sql)]);
  expect(statementsOf(database)).toEqual(Object.fromEntries(expected));
});
