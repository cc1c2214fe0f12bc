import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import { ActionStateStore } from "./action-state-store.ts";
import type { ShortTermMemory } from "../declare/memory-options.ts";

/** A stored value. */
export interface StoredState {
  /** JSON. */
  readonly value: string;
  /** Version of its schema. */
  readonly version: number;
  readonly revision: string;
}

/** Values of actions: those of a conversation in its object, those of people and of the whole bot at the root. */
export interface ActionStates {
  read(key: string): StoredState | undefined | Promise<StoredState | undefined>;
  /**
   * Stores a value, or deletes it (`undefined`). Returns false, and changes nothing, if the stored value is not the
   * expected one any more.
   *
   * @param expected its revision, `none` if there must be no value, or `any`
   */
  write(
    key: string,
    next: Pick<StoredState, "value" | "version"> | undefined,
    expected: string,
  ): boolean | Promise<boolean>;
}

const CONTEXT = "context:";
const NOTE = "note:";
const LONGEST_NAME = 64;
const NOTE_NAME = /^[\w-]{1,64}$/;
const LONGEST_NOTE = 20_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The values and active contexts of one object. */
export class LocalStates implements ActionStates {
  readonly #store: ActionStateStore;
  readonly #deps: Pick<Deps, "clock" | "newId">;
  /** Values that are kept for a day. Older ones are deleted with the next. */
  readonly shortTerm: ShortTermMemory = {
    get: (name) => {
      const notes = this.notes();
      return Object.hasOwn(notes, name) ? notes[name] : undefined;
    },
    set: (name, value) => {
      const json = value === undefined ? undefined : JSON.stringify(value);
      if (!NOTE_NAME.test(name) || (json?.length ?? 0) > LONGEST_NOTE)
        throw new ConfigurationError(
          "note-invalid",
          `A value of the short-term memory has a name of 1 to 64 letters, digits, "_" or "-", and at most ${LONGEST_NOTE} characters as JSON.`,
        );
      this.#store.deleteOlder(NOTE, "note;", this.#deps.clock.now() - DAY_MS);
      this.write(NOTE + name, json === undefined ? undefined : { value: json, version: 1 }, "any");
    },
  };

  constructor(database: Database, deps: Pick<Deps, "clock" | "newId">) {
    this.#store = new ActionStateStore(database);
    this.#deps = deps;
  }

  read(key: string): StoredState | undefined {
    return this.#store.get(key);
  }

  write(key: string, next: Pick<StoredState, "value" | "version"> | undefined, expected: string): boolean {
    const found = this.#store.get(key);
    if (expected !== "any" && (found?.revision ?? "none") !== expected) return false;
    if (next === undefined) {
      if (found !== undefined) this.#store.delete(key);
      return true;
    }
    const { clock, newId } = this.#deps;
    const { value, version } = next;
    this.#store.put({ key, value, version, revision: newId(), changedAt: clock.now() });
    return true;
  }

  /** The active contexts of the conversation. */
  contexts(): ReadonlySet<string> {
    // ";" follows ":".
    const rows = this.#store.between(CONTEXT, "context;");
    return new Set(rows.map(({ key }) => key.slice(CONTEXT.length)));
  }

  /** What actions have noted in the last day. */
  notes(): Readonly<Record<string, unknown>> {
    const since = this.#deps.clock.now() - DAY_MS;
    const rows = this.#store.between(NOTE, "note;").filter(({ changedAt }) => changedAt > since);
    return Object.fromEntries(
      rows.map(({ key, value }) => [key.slice(NOTE.length), JSON.parse(value) as unknown]),
    );
  }

  /** @throws {ConfigurationError} `context-name` */
  setContext(name: string, isActive: boolean): void {
    if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME)
      throw new ConfigurationError(
        "context-name",
        `The name of a context must be a text of 1 to ${LONGEST_NAME} characters.`,
      );
    this.write(CONTEXT + name, isActive ? { value: "true", version: 1 } : undefined, "any");
  }
}
