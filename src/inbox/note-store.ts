import type { Database } from "../core/store/database.ts";
import { added, defineTable, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { NewRowOf } from "../core/store/table.ts";

/**
 * Texts that the bot's own code has posted and that the model does not know yet. The next turn takes all of them into
 * its question. A turn that replaces another one takes over its notes.
 */
const NOTES = defineTable("note_v1", {
  id: text("PRIMARY KEY"),
  text: text("NOT NULL"),
  /** Epoch milliseconds. */
  at: integer("NOT NULL"),
  turnId: text(),
  /** Whether no other note displaces it, before a turn has taken it, except later ones of this kind. */
  isKept: added(flag("NOT NULL DEFAULT 0")),
});

/** If nobody writes for a long time, the model gets only the newest notes. */
const MOST_OPEN = 10;
/** Of the notes that are kept, the model gets more, as long as they are short. */
const MOST_KEPT_CHARACTERS = 40_000;

export type Note = Pick<NewRowOf<typeof NOTES>, "text" | "at" | "isKept">;

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
  const notes = lazyTable(database, NOTES);
  return {
    add(id, { at, isKept = false, text }) {
      notes.insertNew({ id, text, at, isKept });
      notes.delete(
        `WHERE id IN (SELECT id FROM (
           SELECT id, row_number() OVER newest AS place, sum(length(text)) OVER newest AS characters FROM note_v1
           WHERE turn_id IS NULL AND is_kept = ? WINDOW newest AS (ORDER BY at DESC, id DESC))
         WHERE place > ? AND characters > ?)`,
        isKept ? 1 : 0,
        MOST_OPEN,
        isKept ? MOST_KEPT_CHARACTERS : -1,
      );
    },
    take(turnId, replacedTurnId) {
      notes.update({ turnId }, "WHERE turn_id IS NULL OR turn_id = ?", replacedTurnId ?? "");
    },
    ofTurn: (turnId) =>
      notes.all("WHERE turn_id = ? ORDER BY at, id", turnId).map(({ at, text }) => ({ at, text })),
  };
}
