import { readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

const TABLE = "approval_index_v1";

/**
 * Adds waiting approvals of other people to the root's index of a stopped bot, one in each conversation. Asking them all
 * would take hours of the bot's budget. The root must have an index already.
 */
export function fillApprovals(dataDirectory: string, count: number): void {
  for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(path.join(dataDirectory, name));
    try {
      if (!hasIndex(database)) continue;
      fill(database, count);
      return;
    } finally {
      database.close();
    }
  }
  throw new Error("No object of the bot has an index of approvals.");
}

function hasIndex(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(TABLE) !== undefined;
}

function fill(database: DatabaseSync, count: number): void {
  const row = database.prepare(
    `INSERT INTO ${TABLE} (id, state, entry, created_at, ended_at) VALUES (?, 'waiting', ?, ?, NULL)`,
  );
  const key = database.prepare("INSERT INTO approval_key_v1 (key, created_at, id) VALUES (?, ?, ?)");
  const now = Date.now();
  database.exec("BEGIN");
  for (let index = 0; index < count; index += 1) {
    const id = `filled-${String(index).padStart(6, "0")}`;
    const chatId = String(2_000_000_000 + index);
    const createdAt = now - count + index;
    const entry = {
      executionId: id,
      source: "action",
      descriptor: {
        requestId: `turn-${index}`,
        toolCallId: `call-${index}`,
        action: "pay",
        summary: `Pay the invoice ${index} of the coffee shop at the corner`,
        permissions: [],
        kind: "approval-gated",
        input: { id: `invoice-${index}`, url: "http://127.0.0.1/" },
      },
      conversation: `thread:telegram:telegram%3A${chatId}`,
      state: "waiting",
      inputHash: "0".repeat(64),
      createdAt,
      expiresAt: now + 604_800_000,
      requestedBy: { userId: chatId, fullName: `Person ${index}` },
      chat: { messengerId: "telegram", chatId },
    };
    row.run(id, JSON.stringify(entry), createdAt);
    key.run(JSON.stringify(["telegram", "person", chatId]), createdAt, id);
    key.run(JSON.stringify(["telegram", "thread", `telegram:${chatId}`]), createdAt, id);
  }
  database.exec("COMMIT");
}
