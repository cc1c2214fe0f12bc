/**
 * Where the `agents` package looks for the name of an object that the runtime opened without one. It reads this key and
 * never writes it (0.32).
 */
const NAME_KEY = "__ps_name";

/**
 * Stores the name of an object, unless it is stored. An object that another process takes over may be opened by its id
 * alone, and could not work without its name, which says whose conversation it is.
 */
export function keepName({ kv }: Pick<DurableObjectStorage, "kv">, name: string | undefined): void {
  if (name !== undefined && kv.get(NAME_KEY) !== name) kv.put(NAME_KEY, name);
}

/** The name of an object: the runtime's word, else what is stored. */
export function nameOf({ id, storage }: Pick<DurableObjectState, "id" | "storage">): string | undefined {
  if (id.name !== undefined) return id.name;
  const stored: unknown = storage.kv.get(NAME_KEY);
  return typeof stored === "string" ? stored : undefined;
}
