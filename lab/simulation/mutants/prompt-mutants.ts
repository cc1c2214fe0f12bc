import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import type { Mutant } from "../machine/mutant.ts";
import { given, giving } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of the queue in which prompts wait beside people's messages. */
export const promptMutants: readonly Mutant[] = [
  {
    name: "prompt-interrupts",
    what: "a prompt ends the answer that is being written",
    threadDatabase: (database) =>
      onPrompt(database, () => {
        database.run("UPDATE turn_v1 SET state = 'stopping' WHERE state = 'open'");
      }),
  },
  {
    name: "prompt-merged",
    what: "a prompt joins the message of a person that waits",
    threadDatabase: (database) =>
      onPrompt(database, (id, messages) => {
        const text = /"text":"(\w+)"/.exec(messages)?.[1] ?? "";
        const merged = database.run(
          `UPDATE inbox_v1 SET event = json_set(event, '$.message.text', json_extract(event, '$.message.text') || ' ' || ?)
           WHERE seq = (SELECT min(seq) FROM inbox_v1 WHERE state = 'queued')`,
          text,
        );
        if (merged > 0) database.run("UPDATE prompt_v1 SET state = 'completed' WHERE id = ?", id);
      }),
  },
  {
    name: "prompt-not-known",
    what: "a prompt is stored again under the key that it had",
    threadDatabase: (database) => ({
      ...withoutWrites(database, () => false),
      all: <Row extends Record<string, SqlValue>>(
        statement: string,
        ...bindings: readonly SqlValue[]
      ): Row[] => {
        if (statement.includes("WHERE idempotency_key = ?")) return [];
        const isInsert = statement.includes("INSERT INTO prompt_v1");
        return database.all<Row>(
          statement,
          ...(isInsert ? giving(statement, bindings, "idempotency_key", null) : bindings),
        );
      },
    }),
  },
];

/** Calls `then` with each prompt right after it is stored. */
function onPrompt(database: Database, then: (id: string, messages: string) => void): Database {
  return {
    ...withoutWrites(database, () => false),
    all: <Row extends Record<string, SqlValue>>(
      statement: string,
      ...bindings: readonly SqlValue[]
    ): Row[] => {
      const rows = database.all<Row>(statement, ...bindings);
      if (statement.includes("INSERT INTO prompt_v1"))
        then(textOf(given(statement, bindings, "id")), textOf(given(statement, bindings, "messages")));
      return rows;
    },
  };
}

function textOf(value: SqlValue | undefined): string {
  return typeof value === "string" ? value : "";
}
