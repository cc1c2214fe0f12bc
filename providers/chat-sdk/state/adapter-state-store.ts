import type { Database } from "../../../src/core/store/database.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import { LazyTables } from "../../../src/core/store/lazy-tables.ts";
import { Sweep } from "../../../src/core/store/sweep-store.ts";
import { defineTable, flag, integer, Table, text } from "../../../src/core/store/table.ts";

const STATE = defineTable(
  "adapter_state_v1",
  {
    messengerId: text("PRIMARY KEY"),
    key: text("PRIMARY KEY"),
    /** JSON. */
    value: text("NOT NULL"),
    /** True for a value that goes away to make room. */
    isCache: flag("NOT NULL"),
    storedAt: integer("NOT NULL"),
    expiresAt: integer(),
  },
  "STRICT",
);

/** A value to store. Times in epoch milliseconds. */
export interface StateValue {
  readonly messengerId: string;
  readonly key: string;
  readonly value: string;
  readonly isCache: boolean;
  readonly expiresAt: number | undefined;
}

/** The most that the table holds of caches. */
export interface StateLimits {
  readonly rows: number;
  readonly bytes: number;
}

const LIMITS: StateLimits = { rows: 10_000, bytes: 8 * 1024 * 1024 };
const SWEEP_EVERY_MS = 60 * 60_000;

const BYTES = "SUM(LENGTH(CAST(value AS BLOB)) + LENGTH(CAST(key AS BLOB)))";

/**
 * The values that adapters keep. Expired rows are never returned. When there are too many caches, the oldest of those that
 * expire go first, and then the oldest of the others. All other values stay.
 */
export class AdapterStateStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #limits: StateLimits;
  readonly #tables: LazyTables;
  readonly #rows: Table<typeof STATE>;
  readonly #sweep: Sweep;
  /** Size of the caches, or more: rows that were deleted may still count. Unknown before the first write. */
  #size: StateLimits | undefined;

  constructor(database: Database, clock: Clock, limits = LIMITS) {
    this.#database = database;
    this.#clock = clock;
    this.#limits = limits;
    this.#tables = new LazyTables(database, STATE);
    this.#rows = new Table(this.#tables, STATE);
    const old = { table: STATE.table, since: "expires_at", keepMs: 0, key: "rowid" };
    this.#sweep = new Sweep(database, clock, [old], SWEEP_EVERY_MS);
  }

  get(messengerId: string, key: string): string | undefined {
    return this.#find(messengerId, key)?.value;
  }

  /** Stores a value. One that is there already is written again only when half of its time has passed. */
  put(given: StateValue): void {
    const now = this.#clock.now();
    const { expiresAt, isCache, key, messengerId, value } = given;
    const known = this.#find(messengerId, key);
    if (known?.value === value && isLongEnough(known, expiresAt, now)) return;
    this.#sweep.run();
    this.#rows.put({ ...given, storedAt: now });
    if (!isCache) return;
    const { bytes, rows } = (this.#size ??= this.#measure());
    this.#size = {
      bytes: bytes + lengthOf(value) + lengthOf(key),
      rows: rows + (known === undefined ? 1 : 0),
    };
    this.#makeRoom();
  }

  /** Adds a value to the end of a list, of which the newest `most` stay. */
  append(given: StateValue, most: number): void {
    const list = listIn(this.get(given.messengerId, given.key));
    const value = JSON.stringify([...list, JSON.parse(given.value) as unknown].slice(-most));
    this.put({ ...given, value });
  }

  delete(messengerId: string, key: string): void {
    this.#tables.run("DELETE FROM adapter_state_v1 WHERE messenger_id = ? AND key = ?", messengerId, key);
  }

  #find(messengerId: string, key: string) {
    return this.#rows.first(
      "WHERE messenger_id = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
      messengerId,
      key,
      this.#clock.now(),
    );
  }

  #isFull(): boolean {
    const { bytes, rows } = this.#size ?? { bytes: 0, rows: 0 };
    return rows > this.#limits.rows || bytes > this.#limits.bytes;
  }

  /** Deletes a tenth of the caches at a time, so that room is not made for every new one. */
  #makeRoom(): void {
    if (!this.#isFull()) return;
    this.#size = this.#measure();
    while (this.#isFull()) {
      this.#tables.run(
        `DELETE FROM adapter_state_v1 WHERE rowid IN
         (SELECT rowid FROM adapter_state_v1 WHERE is_cache
          ORDER BY expires_at IS NULL, stored_at, rowid LIMIT ?)`,
        Math.max(1, Math.floor(this.#size.rows / 10)),
      );
      this.#size = this.#measure();
    }
  }

  #measure(): StateLimits {
    const [size] = this.#database.all<{ bytes: number | null; rows: number }>(
      `SELECT COUNT(*) AS rows, ${BYTES} AS bytes FROM adapter_state_v1 WHERE is_cache`,
    );
    return { rows: size?.rows ?? 0, bytes: size?.bytes ?? 0 };
  }
}

/** True if the known value lasts at least half as long as the new one would. */
function isLongEnough(
  known: { readonly expiresAt: number | undefined },
  expiresAt: number | undefined,
  now: number,
): boolean {
  if (known.expiresAt === undefined || expiresAt === undefined) return known.expiresAt === expiresAt;
  return known.expiresAt - now >= (expiresAt - now) / 2;
}

function listIn(value: string | undefined): unknown[] {
  const list: unknown = value === undefined ? [] : JSON.parse(value);
  return Array.isArray(list) ? list : [];
}

function lengthOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
