import type { Database } from "../core/store/database.ts";
import { LazyTables } from "../core/store/lazy-tables.ts";
import { Table } from "../core/store/table.ts";
import { sumOfCosts } from "../core/turn/turn-cost.ts";
import type { TurnCost } from "../core/turn/turn-cost.ts";
import type { BroadcastReceiptFilter, BroadcastState } from "../core/turn/broadcast.ts";
import { BROADCASTS, plusOne, sumOf, TARGETS } from "./stored-broadcast.ts";
import type { Closing, StoredBroadcast, StoredTarget } from "./stored-broadcast.ts";

/** Code of an `open` target in whose run somebody has been asked about an action. */
export const DECIDING = "waits-for-decision";
/** A chat in its quiet hours does not have the message yet. */
const SHOWN_STATE = "CASE WHEN state = 'open' AND tries = 0 THEN 'waiting' ELSE state END";

export type NewBroadcast = Pick<
  StoredBroadcast,
  "id" | "hash" | "work" | "isSubscribed" | "createdAt" | "expiresAt"
>;

/** A target whose state changes. `askAt` only for `open`, `usage` only at its end. */
export interface TargetChange extends StoredTarget {
  readonly askAt?: number;
  readonly usage?: TurnCost | undefined;
}

export interface OpenTargets {
  readonly count: number;
  /** Epoch milliseconds. Undefined if there are none. */
  readonly nextAt: number | undefined;
}

export interface BroadcastStore {
  insert(broadcast: NewBroadcast): StoredBroadcast;
  get(id: string): StoredBroadcast | undefined;
  list(limit: number): StoredBroadcast[];
  /** Returns the broadcasts that have work left, the longest waiting first. */
  unfinished(): StoredBroadcast[];
  /** Adds targets that are not known yet, and how far the collection has come. Skipped ones are counted as such. */
  addTargets(seq: number, targets: readonly StoredTarget[], cursor: string | undefined): void;
  setState(seq: number, state: BroadcastState, closing?: Closing): void;
  setChecked(seq: number): void;
  noteRun(seq: number, now: number): void;
  /** Returns targets whose turn has not come, in order. */
  waiting(seq: number, limit: number): StoredTarget[];
  /** Returns targets whose conversation has the message, and whose outcome is asked for at `now`. */
  due(seq: number, now: number, limit: number): StoredTarget[];
  /** Makes the outcome of a target due at `now`, if its conversation has the message and it is not known. */
  askSoon(id: string, key: string, now: number): void;
  /** Returns a target that waits for the end of its quiet hours. */
  sleeping(seq: number, key: string): StoredTarget | undefined;
  /** Returns targets whose quiet hours are over at `now`. */
  woken(seq: number, now: number, limit: number): StoredTarget[];
  /** Returns the number of targets whose outcome is not known, and the time of the next question. */
  open(seq: number): OpenTargets;
  /** Returns the number of targets that have quiet hours, and the first end of them. */
  quiet(seq: number): OpenTargets;
  /** Returns the number of targets in whose runs somebody has been asked about an action. */
  deciding(seq: number): number;
  /** Stores outcomes, and counts those that have ended. */
  change(seq: number, changes: readonly TargetChange[]): void;
  setAfterKey(seq: number, key: string): void;
  /** Ends a broadcast. All targets without an outcome count as skipped with this code. Forgets the work. */
  end(seq: number, state: BroadcastState, now: number, restCode?: string): void;
  targets(seq: number, filter: BroadcastReceiptFilter & { readonly limit: number }): StoredTarget[];
  /** Deletes broadcasts that ended before `before`, and their targets, at most `limit` rows. */
  sweep(before: number, limit: number): void;
}

/** Creates the store. Its tables are made with the first broadcast, so most bots have none. */
export function createBroadcastStore(database: Database): BroadcastStore {
  const tables = new LazyTables(database, TARGETS, BROADCASTS);
  const broadcasts = new Table(tables, BROADCASTS);
  const targets = new Table(tables, TARGETS);
  const readTargets = (where: string, ...bindings: (string | number)[]): StoredTarget[] =>
    targets
      .all(where, ...bindings)
      .map(({ address, code, conversation, deliveryId, key, messageIds = [], state, tries }) => ({
        key,
        state,
        conversation,
        address,
        code,
        deliveryId,
        messageIds,
        tries,
      }));
  const openWhere = (seq: number, condition: string): OpenTargets => {
    // Each open target has its time. Without this condition SQLite would read all targets, and not the index.
    const row = tables.all<{ count: number; at: number | null }>(
      `SELECT count(*) AS count, min(ask_at) AS at FROM broadcast_target_v1
         WHERE broadcast = ? AND state = 'open' AND ask_at >= 0 AND ${condition}`,
      seq,
    )[0];
    return { count: row?.count ?? 0, nextAt: row?.at ?? undefined };
  };
  const bySeq = (seq: number): StoredBroadcast => {
    const found = broadcasts.first("WHERE seq = ?", seq);
    if (found !== undefined) return found;
    throw new Error("The broadcast is not stored");
  };

  return {
    insert(broadcast) {
      const stored = broadcasts.insertNew({
        ...broadcast,
        state: "collecting",
        afterKey: "",
        total: 0,
        sent: 0,
        failures: {},
        skips: {},
        ranAt: 0,
      });
      if (stored === undefined) throw new Error("There is a broadcast with this id already");
      return stored;
    },
    get: (id) => broadcasts.first("WHERE id = ?", id),
    list: (limit) => broadcasts.all("ORDER BY seq DESC LIMIT ?", limit),
    unfinished: () => broadcasts.all("WHERE ended_at IS NULL AND state <> 'collecting' ORDER BY ran_at, seq"),
    addTargets(seq, found, cursor) {
      database.transaction(() => {
        const { skips, total } = bySeq(seq);
        let added = 0;
        let counted = skips;
        for (const { address, code, conversation, key, state } of found) {
          const target = { broadcast: seq, key, state, conversation, address, code, tries: 0 };
          if (targets.insertNew(target) === undefined) continue;
          added += 1;
          if (state === "skipped") counted = plusOne(counted, code);
        }
        broadcasts.update({ total: total + added, skips: counted, cursor }, "WHERE seq = ?", seq);
      });
    },
    setState(seq, state, closing) {
      database.run(
        "UPDATE broadcast_v1 SET state = ?, closing = coalesce(?, closing) WHERE seq = ?",
        state,
        closing ?? null,
        seq,
      );
    },
    setChecked(seq) {
      database.run("UPDATE broadcast_v1 SET is_checked = 1 WHERE seq = ?", seq);
    },
    noteRun(seq, now) {
      database.run("UPDATE broadcast_v1 SET ran_at = ? WHERE seq = ?", now, seq);
    },
    waiting: (seq, limit) =>
      readTargets(
        `WHERE broadcast = ? AND key > (SELECT after_key FROM broadcast_v1 WHERE seq = ?) AND state = 'waiting'
         ORDER BY key LIMIT ?`,
        seq,
        seq,
        limit,
      ),
    due: (seq, now, limit) =>
      readTargets(
        "WHERE broadcast = ? AND state = 'open' AND tries > 0 AND ask_at <= ? ORDER BY ask_at LIMIT ?",
        seq,
        now,
        limit,
      ),
    askSoon(id, key, now) {
      tables.run(
        `UPDATE broadcast_target_v1 SET ask_at = ?, tries = 1
         WHERE broadcast = (SELECT seq FROM broadcast_v1 WHERE id = ?) AND key = ? AND state = 'open' AND tries > 0`,
        now,
        id,
        key,
      );
    },
    sleeping: (seq, key) =>
      readTargets("WHERE broadcast = ? AND key = ? AND state = 'open' AND tries = 0", seq, key)[0],
    woken: (seq, now, limit) =>
      readTargets(
        "WHERE broadcast = ? AND state = 'open' AND tries = 0 AND ask_at <= ? ORDER BY ask_at LIMIT ?",
        seq,
        now,
        limit,
      ),
    open: (seq) => openWhere(seq, "tries > 0"),
    quiet: (seq) => openWhere(seq, "tries = 0"),
    deciding: (seq) => openWhere(seq, `code = '${DECIDING}'`).count,
    change(seq, changes) {
      database.transaction(() => {
        const stored = bySeq(seq);
        const { usage: earlier } = stored;
        let { failures, sent, skips } = stored;
        for (const { askAt, code, deliveryId, key, messageIds, state, tries } of changes) {
          targets.update(
            {
              state,
              code,
              deliveryId,
              messageIds: messageIds.length === 0 ? undefined : messageIds,
              tries,
              askAt: state === "open" ? (askAt ?? 0) : undefined,
            },
            "WHERE broadcast = ? AND key = ?",
            seq,
            key,
          );
          if (state === "sent") sent += 1;
          if (state === "failed") failures = plusOne(failures, code);
          if (state === "skipped") skips = plusOne(skips, code);
        }
        const usage = sumOfCosts([earlier, ...changes.map((change) => change.usage)]);
        broadcasts.update({ sent, failures, skips, usage }, "WHERE seq = ?", seq);
      });
    },
    setAfterKey(seq, key) {
      database.run("UPDATE broadcast_v1 SET after_key = ? WHERE seq = ?", key, seq);
    },
    end(seq, state, now, restCode) {
      database.transaction(() => {
        const { failures, sent, skips, total } = bySeq(seq);
        const rest = total - sent - sumOf(failures) - sumOf(skips);
        const counted =
          restCode === undefined || rest === 0
            ? skips
            : { ...skips, [restCode]: (skips[restCode] ?? 0) + rest };
        broadcasts.update({ state, skips: counted, endedAt: now, work: undefined }, "WHERE seq = ?", seq);
      });
    },
    targets(seq, { cursor = "", limit, state }) {
      return readTargets(
        `WHERE broadcast = ? AND key > ? AND (? = '' OR ${SHOWN_STATE} = ?) ORDER BY key LIMIT ?`,
        seq,
        cursor,
        state ?? "",
        state ?? "",
        limit,
      );
    },
    sweep(before, limit) {
      for (const { seq } of broadcasts.all(
        "WHERE ended_at < ? OR (state = 'collecting' AND created_at < ?)",
        before,
        before,
      )) {
        const deleted = database.run(
          `DELETE FROM broadcast_target_v1 WHERE broadcast = ? AND key IN
             (SELECT key FROM broadcast_target_v1 WHERE broadcast = ? LIMIT ?)`,
          seq,
          seq,
          limit,
        );
        if (deleted > 0) return;
        database.run("DELETE FROM broadcast_v1 WHERE seq = ?", seq);
      }
    },
  };
}
