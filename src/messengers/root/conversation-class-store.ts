import type { Database } from "../../core/store/database.ts";
import { defineTable, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";

/**
 * The classes of conversations whose class the bot's function has chosen. The command that moves data writes it, too; see
 * `ops/data/move-conversation.ts`.
 */
const CLASSES = defineTable("conversation_class_v1", {
  conversation: text("PRIMARY KEY"),
  /** The class of the object that has its memory. */
  className: text("NOT NULL"),
  /** The class that the function has named last. */
  chosenClass: text("NOT NULL"),
});

export type StoredConversationClass = RowOf<typeof CLASSES>;

export interface ConversationClassStore {
  get(conversation: string): StoredConversationClass | undefined;
  put(row: StoredConversationClass): void;
  /** Returns how many conversations have another class than the chosen one, by both classes. */
  unlike(): { readonly className: string; readonly chosenClass: string; readonly count: number }[];
}

export function createConversationClassStore(database: Database): ConversationClassStore {
  const classes = lazyTable(database, CLASSES);
  return {
    get: (conversation) => classes.first("WHERE conversation = ?", conversation),
    put: (row) => classes.put(row),
    unlike: () =>
      classes.query(
        `SELECT class_name AS className, chosen_class AS chosenClass, COUNT(*) AS count FROM conversation_class_v1
         WHERE class_name <> chosen_class GROUP BY class_name, chosen_class`,
      ),
  };
}
