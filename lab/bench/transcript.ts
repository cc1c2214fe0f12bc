import { readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Both bots keep their transcripts in this table, because both use the same agents package. */
const TABLE = "cf_agents_session_messages";
const QUESTION = "Which of the coffees goes well with milk?";
const ANSWER =
  "The dark roast from Sumatra does: it is heavy, low in acid, and still tastes of chocolate under a lot of milk. The house blend is a little lighter, and the decaffeinated one is close to it. Shall I put one aside?";

type Leaf = { readonly id: string; readonly seq: number; readonly created_at: number };

/**
 * Lengthens the conversations of a stopped bot: each gets `count` stored messages after its last one. A conversation is
 * found by a text that only it contains. Returns the number of conversations found.
 */
export function fillTranscripts(dataDirectory: string, counts: ReadonlyMap<string, number>): number {
  let filled = 0;
  for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(path.join(dataDirectory, name));
    try {
      filled += fillDatabase(database, counts);
    } finally {
      database.close();
    }
  }
  return filled;
}

function fillDatabase(database: DatabaseSync, counts: ReadonlyMap<string, number>): number {
  const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(TABLE) !== undefined;
  if (!hasTable) return 0;
  for (const [text, count] of counts) {
    const holds = database.prepare(`SELECT 1 FROM ${TABLE} WHERE instr(content, ?) > 0`).get(text);
    if (holds === undefined) continue;
    append(database, count);
    return 1;
  }
  return 0;
}

function append(database: DatabaseSync, count: number): void {
  const leaf = database
    .prepare(`SELECT id, seq, created_at FROM ${TABLE} WHERE session_id = '' ORDER BY seq DESC LIMIT 1`)
    .get() as Leaf | undefined;
  if (leaf === undefined) throw new Error("A conversation without a message cannot be made longer.");
  const insert = database.prepare(
    `INSERT INTO ${TABLE} (session_id, id, seq, parent_id, role, content, token_estimate, created_at)
     VALUES ('', ?, ?, ?, ?, ?, ?, ?)`,
  );
  database.exec("BEGIN");
  let parent = leaf.id;
  for (let index = 0; index < count; index += 1) {
    const id = `history-${index}`;
    const [role, text] = index % 2 === 0 ? ["user", QUESTION] : ["assistant", ANSWER];
    const content = JSON.stringify({ id, role, parts: [{ type: "text", text }] });
    const tokens = Math.ceil(text.length / 4) + 4;
    insert.run(id, leaf.seq + 1 + index, parent, role, content, tokens, leaf.created_at + index);
    parent = id;
  }
  database.exec("COMMIT");
}
