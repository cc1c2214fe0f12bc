import type { FlexibleSchema } from "ai";

/** The type of a value that an action keeps, and whose value it is. */
export interface MemoryOptions<Schema extends FlexibleSchema = FlexibleSchema> {
  /** Type of the value. It is checked before it is stored, and when it is read. */
  readonly schema: Schema;
  /** A whole number. Raise it when the schema changes, and give a `migrate`. @default 1 */
  readonly version?: number;
  /**
   * Makes a value of this version from one of an earlier version. Called at every read until a value is stored, so it
   * must change nothing else. @default none
   */
  readonly migrate?: (stored: { readonly value: unknown; readonly version: number }) => unknown;
  /** Whose value it is: one for each conversation, for each person in all conversations, or for the bot. @default "conversation" */
  readonly scope?: "conversation" | "person" | "bot";
}

/**
 * A value that an action keeps between its runs. A change stands also if the run fails, and a run that is repeated makes
 * it again. The model never sees the value by itself.
 */
export interface ActionMemory<Value> {
  /** @throws {ConfigurationError} `memory-version`, `memory-newer` or `memory-invalid` if the stored value cannot be read */
  get(): Promise<Value | undefined>;
  /** @throws {ConfigurationError} `memory-invalid` or `memory-too-large` */
  set(value: Value): Promise<void>;
  /** Changes the value in one step: `change` is called again if somebody else has changed it meanwhile. */
  update(change: (value: Value | undefined) => Value | Promise<Value>): Promise<Value>;
  delete(): Promise<void>;
}

/** See `ActionContext.shortTermMemory`. */
export interface ShortTermMemory {
  readonly get: (name: string) => unknown;
  /**
   * @param value JSON of at most 20,000 characters; `undefined` deletes it
   * @throws {ConfigurationError} `note-invalid`
   */
  readonly set: (name: string, value: unknown) => void;
}
