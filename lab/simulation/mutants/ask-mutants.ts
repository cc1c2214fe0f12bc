import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import type { Mutant } from "../machine/mutant.ts";
import { changingInserts, given, giving } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of questions with secrets, in other chats, and of the bot's own code. */
export const askMutants: readonly Mutant[] = [
  {
    name: "secret-shown",
    what: "the value of a sensitive field is shown like any other",
    needs: "fill-in",
    threadDatabase: (database) =>
      changingInserts(database, "question_v1", "form", (form) =>
        form.replaceAll('"isSensitive":true', '"isSensitive":false'),
      ),
  },
  {
    name: "secret-to-model",
    what: "the model gets messages of a private chat in which a secret is asked for",
    needs: "fill-in",
    threadDatabase: (database) =>
      changingInserts(database, "question_v1", "asked_in", (askedIn) =>
        askedIn.replaceAll('"isDirectMessage":true', '"isDirectMessage":false'),
      ),
  },
  {
    name: "secret-not-erased",
    what: "the log of a run keeps a secret when its call is over",
    needs: "fill-in",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) => /^\s*(?:DELETE FROM|UPDATE) run_log_v1\b/.test(statement)),
  },
  {
    name: "expired-early",
    what: "a question waits for a tenth of its time only",
    needs: "fill-in",
    threadDatabase: (database) => ({
      ...database,
      run: (statement, ...bindings) => {
        const isNew = statement.includes("INSERT INTO question_v1");
        const [createdAt, expiresAt] = ["created_at", "expires_at"].map((column) =>
          isNew ? Number(given(statement, bindings, column)) : 0,
        );
        if (!isNew) return database.run(statement, ...bindings);
        const early = (createdAt ?? 0) + Math.ceil(((expiresAt ?? 0) - (createdAt ?? 0)) / 10);
        return database.run(statement, ...giving(statement, bindings, "expires_at", early));
      },
    }),
  },
  {
    name: "bot-answer-lost",
    what: "an answer to a question of the bot's code is forgotten by a restart",
    needs: "bot-question",
    threadDatabase: (database) =>
      changingRows(database, /question_v1 WHERE is_delivered = 0/, (rows) =>
        rows.filter(({ end, name }) => name === null || end === null),
      ),
  },
  {
    name: "bot-answer-again",
    what: "the bot's code gets the answer to its question a second time",
    needs: "bot-question",
    threadDatabase: (database) => {
      // Each time again would leave no time for anything else.
      let left = 1;
      return withoutWrites(database, (statement) => {
        const isEnd = /UPDATE question_v1 SET answer = \?, is_delivered = \?/.test(statement);
        return isEnd && (left -= 1) >= 0;
      });
    },
  },
  {
    name: "quote-ignored",
    what: "in a private chat a message is about the newest question, whatever it quotes",
    needs: "fill-in",
    event: (event) => {
      const { message, thread } = event;
      if (message?.quoted?.isFromBot !== true || !thread.isDirectMessage) return event;
      if (!/Question\d about/.test(message.quoted.text ?? "")) return event;
      const { quoted: _quoted, ...rest } = message;
      return { ...event, message: rest };
    },
  },
];

/** The database in which some rows are others than were stored. */
function changingRows(
  database: Database,
  query: RegExp,
  change: (rows: Record<string, SqlValue>[]) => Record<string, SqlValue>[],
): Database {
  return {
    all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
      const rows = database.all<Row>(statement, ...bindings);
      return query.test(statement) ? (change(rows) as Row[]) : rows;
    },
    run: (statement, ...bindings) => database.run(statement, ...bindings),
    transaction: (body) => database.transaction(body),
  };
}
