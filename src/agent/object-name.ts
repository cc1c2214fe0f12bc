/**
 * The key where the `agents` package looks for the name of an object that the runtime opened without one. It reads this
 * key and never writes it (0.32).
 */
const NAME_KEY = "__ps_name";

/**
 * Stores the name of an object, unless it is stored already. Another process may open the object by its id alone. It
 * could not work then without its name, which says which conversation it belongs to.
 */
export function keepName({ kv }: Pick<DurableObjectStorage, "kv">, name: string | undefined): void {
  if (name !== undefined && kv.get(NAME_KEY) !== name) kv.put(NAME_KEY, name);
}

/** Returns the name of an object: from the runtime, or else the stored one. */
export function nameOf({ id, storage }: Pick<DurableObjectState, "id" | "storage">): string | undefined {
  if (id.name !== undefined) return id.name;
  const stored: unknown = storage.kv.get(NAME_KEY);
  return typeof stored === "string" ? stored : undefined;
}

/** The key of the class of the root to which an object of another class belongs. */
const ROOT_CLASS_KEY = "switchboard-root-class";

export function keepRootClass({ kv }: Pick<DurableObjectStorage, "kv">, rootClass: string): void {
  if (kv.get(ROOT_CLASS_KEY) !== rootClass) kv.put(ROOT_CLASS_KEY, rootClass);
}

/** Returns the class of the root to which an object belongs. Undefined: its own class. */
export function rootClassOf({ kv }: Pick<DurableObjectStorage, "kv">): string | undefined {
  const stored: unknown = kv.get(ROOT_CLASS_KEY);
  return typeof stored === "string" ? stored : undefined;
}
