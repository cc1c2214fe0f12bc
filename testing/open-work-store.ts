import path from "node:path";
import { z } from "zod";
import { readAll, type ReadRows } from "../ops/data/object-store.ts";

/** Something that the bot has still to do. */
export interface OpenWork {
  /** Undefined for work that belongs to no chat. */
  readonly chatId?: string | undefined;
  /** A word for a message, such as "files" or "card", or for work that may lead to one. */
  readonly kind: string;
}

/**
 * The tables of work that is not done. A bot stores everything before it does it, so that a crash loses nothing: if none
 * of these has a row, nothing is left to do. Requests that wait for a person's decision do not count.
 */
export const WORK_TABLES = {
  reply_v1: `SELECT json_extract(address, '$.chatId') AS chatId, coalesce(json_extract(body, '$.kind'), 'text') AS kind
    FROM reply_v1 WHERE ended_at IS NULL`,
  broadcast_target_v1: `SELECT json_extract(target.address, '$.chatId') AS chatId, 'broadcast' AS kind
    FROM broadcast_target_v1 AS target JOIN broadcast_v1 AS one ON one.seq = target.broadcast
    WHERE one.ended_at IS NULL AND target.state = 'waiting'`,
  inbox_v1: `SELECT json_extract(thread, '$.chatId') AS chatId, 'update' AS kind FROM inbox_v1 WHERE state <> 'done'`,
  prompt_v1: `SELECT json_extract(answer_to, '$[0].chatId') AS chatId, 'turn' AS kind
    FROM prompt_v1 WHERE ended_at IS NULL`,
  approval_v1: `SELECT json_extract(origin, '$.chatId') AS chatId, 'action' AS kind
    FROM approval_v1 WHERE is_unfinished = 1 AND state <> 'waiting'`,
  parked_call_v1: `SELECT NULL AS chatId, 'action' AS kind FROM parked_call_v1
    WHERE is_told = 0 AND state <> 'asking'`,
  question_v1: `SELECT NULL AS chatId, 'answer' AS kind FROM question_v1
    WHERE is_delivered = 0 AND "end" IS NOT NULL`,
  occurrence_v1: `SELECT NULL AS chatId, 'scheduled task' AS kind, next_at AS at FROM occurrence_v1
    WHERE state IN ('due', 'running')`,
};

/** Work that begins later than this is not open yet. */
const SOON_MS = 1000;

const rowSchema = z.object({ chatId: z.string().nullable(), kind: z.string(), at: z.number().optional() });

/**
 * Returns a function that returns the work of all conversations that is left, read from the storage of a running bot.
 * Undefined while the bot is writing. Work that one object hands over to another may be missed once, but not twice in a
 * row. The function reads only what has changed since its last call.
 */
export function openWorkIn(dataDirectory: string): () => readonly OpenWork[] | undefined {
  const known: ReadRows = new Map();
  return () => {
    try {
      return readAll(path.join(dataDirectory, "objects"), WORK_TABLES, known)
        .map((row) => rowSchema.parse(row))
        .filter(({ at = 0 }) => at < Date.now() + SOON_MS)
        .map(({ chatId, kind }) => ({ kind, ...(chatId !== null && { chatId }) }));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR") return undefined;
      throw error;
    }
  };
}
