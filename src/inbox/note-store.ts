import type { Database } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";

/**
 * Texts that the bot's own code has posted and that the model does not know yet. The next turn takes all of them into
 * its question. A turn that replaces another one takes over its notes.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS note_v1 (
  id TEXT PRIMARY KEY, text TEXT NOT NULL, at INTEGER NOT NULL, turn_id TEXT, is_kept INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID`;
/** Columns that the first table did not have. */
const ADDED = { is_kept: "INTEGER NOT NULL DEFAULT 0" };

/** If nobody writes for a long time, the model gets only the newest notes. */
const MOST_OPEN = 10;
/** Of the notes that are kept, the model gets more, as long as they are short. */
const MOST_KEPT_CHARACTERS = 40_000;

export interface Note {
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether no other note displaces it, before a turn has taken it, except later ones of this kind. @default false */
  readonly isKept?: boolean;
}

export interface NoteStore {
  /** Stores a note, once for each id. Of the notes that no turn has taken, only the newest stay. */
  add(id: string, note: Note): void;
  /** Gives all open notes to a turn. Call it in the transaction that stores the turn. */
  take(turnId: string, replacedTurnId: string | undefined): void;
  /** Returns the notes of a turn, oldest first. */
  ofTurn(turnId: string): Note[];
}

/** Creates the store. Its table is made with the first note. */
export function createNoteStore(database: Database): NoteStore {
  const tables = new LazyTables(database, { table: "note_v1", schema: [SCHEMA], added: ADDED });
  return {
    add(id, { at, isKept = false, text }) {
      tables.make();
      const kept = isKept ? 1 : 0;
      database.run(
        "INSERT OR IGNORE INTO note_v1 (id, text, at, is_kept) VALUES (?, ?, ?, ?)",
        id,
        text,
        at,
        kept,
      );
      database.run(
        `DELETE FROM note_v1 WHERE id IN (SELECT id FROM (
           SELECT id, row_number() OVER newest AS place, sum(length(text)) OVER newest AS characters FROM note_v1
           WHERE turn_id IS NULL AND is_kept = ? WINDOW newest AS (ORDER BY at DESC, id DESC))
         WHERE place > ? AND characters > ?)`,
        kept,
        MOST_OPEN,
        isKept ? MOST_KEPT_CHARACTERS : -1,
      );
    },
    take(turnId, replacedTurnId) {
      tables.run(
        "UPDATE note_v1 SET turn_id = ? WHERE turn_id IS NULL OR turn_id = ?",
        turnId,
        replacedTurnId ?? "",
      );
    },
    ofTurn: (turnId) =>
      tables.all<{ text: string; at: number }>(
        "SELECT text, at FROM note_v1 WHERE turn_id = ? ORDER BY at, id",
        turnId,
      ),
  };
}
