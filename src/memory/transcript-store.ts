import type { Database } from "../core/store/database.ts";
import type { FoundMessage } from "../turn/model/session-messages.ts";

/**
 * Finds messages that contain a text, the newest first. For languages that write no spaces: the index has such a
 * sentence as one word. Reads the index of `agents/sessions`, which exists after its first search.
 */
export function messagesContaining(
  database: Database,
  session: string,
  text: string,
  limit: number,
): FoundMessage[] {
  return database.all<{ id: string; role: string; content: string }>(
    `SELECT id, role, content FROM cf_agents_session_fts
     WHERE session_id = ? AND instr(content, ?) > 0 ORDER BY rowid DESC LIMIT ?`,
    session,
    text,
    limit,
  );
}
