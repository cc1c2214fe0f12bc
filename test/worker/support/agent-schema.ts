interface AgentSchema {
  /** Makes all tables and indexes. */
  readonly statements: string;
  /** The class's own notes of what it has made. */
  readonly notes: readonly (readonly [key: string, value: unknown])[];
}

let schema: AgentSchema | undefined;

/**
 * Gives a new object the tables that the constructor of `Agent` makes, as the first object of this process got them.
 * The constructor makes them with forty statements, half of which change a table that it has just made: a tenth of the
 * time of a short test.
 *
 * @returns what to call when the constructor has run
 */
export function agentSchema({ kv, sql }: DurableObjectStorage): () => void {
  const isNew = sql.exec("SELECT 1 FROM sqlite_master LIMIT 1").toArray().length === 0;
  if (!isNew) return () => {};
  if (schema === undefined) {
    return () => {
      const made = sql.exec<{ sql: string }>(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name LIKE 'cf!_%' ESCAPE '!' ORDER BY rowid",
      );
      const statements = [...made].map((each) => each.sql).join(";\n");
      schema ??= { statements, notes: [...kv.list()] };
    };
  }
  sql.exec(schema.statements);
  for (const [key, value] of schema.notes) kv.put(key, value);
  return () => {};
}
