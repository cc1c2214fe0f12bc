import type { Database } from "../../core/store/database.ts";
import { lazyTable } from "../../core/store/table.ts";
import type { Table } from "../../core/store/table.ts";
import { isOpen } from "../rules/approval.ts";
import type { Approval, ApprovalState } from "../rules/approval.ts";
import { approvalOf, APPROVALS, detailsOf, progressOf } from "./approval-rows.ts";

export interface ApprovalFilter {
  readonly state?: ApprovalState;
  /** Only approvals created at this time or later, in epoch milliseconds. */
  readonly since?: number;
  /** User id of the person who asked or decided. */
  readonly person?: string;
  /** Only older ones than this: the id of the last one of the page before. */
  readonly before?: string;
  /** At most 1000, at the root 200. @default 100 */
  readonly limit?: number;
}

/** Approvals of one conversation, including decided ones, for audits. */
export class ApprovalStore {
  readonly #database: Database;
  readonly #approvals: Table<typeof APPROVALS>;

  constructor(database: Database) {
    this.#database = database;
    this.#approvals = lazyTable(database, APPROVALS);
  }

  get(id: string): Approval | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  insert(approval: Approval): void {
    const newest = this.#database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM approval_v1")[0];
    this.#approvals.insert({
      ...approval,
      seq: (newest?.seq ?? 0) + 1,
      isUnfinished: isUnfinished(approval),
      details: detailsOf(approval),
      progress: progressOf(approval),
    });
  }

  /** Removes a use of a grant that did not count. */
  remove(id: string): void {
    this.#database.run("DELETE FROM approval_v1 WHERE id = ?", id);
  }

  /** Stores the changeable fields of an approval. Its input, key and requester never change. */
  update(approval: Approval): void {
    const { decidedAt, decidedBy, drawnState, endedAt, escalateAt, id, isTold, outcome, reason } = approval;
    const { remindAt, state } = approval;
    const changes = {
      state,
      decidedAt,
      decidedBy,
      reason,
      outcome,
      endedAt,
      drawnState,
      isTold,
      remindAt,
      escalateAt,
    };
    this.#approvals.update(
      { ...changes, isUnfinished: isUnfinished(approval), progress: progressOf(approval) },
      "WHERE id = ?",
      id,
    );
  }

  /** Returns the question about a call, in any state. */
  ofCall(requestId: string, toolCallId: string): Approval | undefined {
    return this.#ofCall(requestId, toolCallId).find(({ isInline }) => !isInline);
  }

  /** Returns the questions of a turn, in any state. */
  ofTurn(requestId: string): Approval[] {
    return this.#read("WHERE request_id = ? ORDER BY seq", requestId).filter(({ isInline }) => !isInline);
  }

  /** Returns an approval and the others on its card, oldest first. */
  together(approval: Approval): Approval[] {
    const { requestId, together } = approval;
    return together === undefined
      ? [approval]
      : this.ofTurn(requestId).filter((one) => one.together === together);
  }

  /** Returns the newest use of a grant for a call. */
  useOfCall(requestId: string, toolCallId: string): Approval | undefined {
    return this.#ofCall(requestId, toolCallId).findLast(({ isInline }) => isInline);
  }

  /** Returns uses of grants without an outcome, oldest first. */
  openUses(): Approval[] {
    return this.#read("WHERE state = 'approved' AND is_unfinished = 0 ORDER BY seq");
  }

  #ofCall(requestId: string, toolCallId: string): Approval[] {
    return this.#read("WHERE request_id = ? AND tool_call_id = ? ORDER BY seq", requestId, toolCallId);
  }

  /** Returns the open approvals of a ledger key, or of the same action with the same input, oldest first. */
  openFor(ledgerKey: string, action: string, inputHash: string): Approval[] {
    return this.#read(
      `WHERE is_unfinished = 1 AND state IN ('waiting', 'approved', 'running')
         AND (ledger_key = ? OR (action = ? AND input_hash = ?)) ORDER BY seq`,
      ledgerKey,
      action,
      inputHash,
    );
  }

  /** Returns the newest call of this action that somebody wanted changes of, and that was not proposed again. */
  toChange(action: string, since: number): Approval | undefined {
    return this.#read(
      `WHERE action = ? AND state = 'replaced' AND created_at >= ? AND decided_by IS NOT NULL
           AND json_extract(COALESCE(progress, '{}'), '$.successor') IS NULL ORDER BY seq DESC LIMIT 1`,
      action,
      since,
    )[0];
  }

  /** Returns approvals with work that is due: remind, escalate, expire, run, draw or tell. Oldest first. */
  due(now: number): Approval[] {
    return this.#read(
      `WHERE is_unfinished = 1 AND NOT (state = 'waiting' AND drawn_state IS 'waiting' AND expires_at > ?1
         AND COALESCE(remind_at, expires_at) > ?1 AND COALESCE(escalate_at, expires_at) > ?1) ORDER BY seq`,
      now,
    );
  }

  /** Epoch milliseconds of the next expiry, reminder or escalation, 0 if something is due already. Undefined if nothing is left to do. */
  nextDueAt(): number | undefined {
    const next = this.#approvals.query<{ at: number | null }>(
      `SELECT min(CASE WHEN state = 'waiting' AND drawn_state = 'waiting' THEN
         min(expires_at, COALESCE(remind_at, expires_at), COALESCE(escalate_at, expires_at))
         ELSE 0 END) AS at
       FROM approval_v1 WHERE is_unfinished = 1`,
    );
    return next[0]?.at ?? undefined;
  }

  waiting(): Approval[] {
    return this.#read("WHERE is_unfinished = 1 AND state = 'waiting' ORDER BY seq");
  }

  /** Newest first. */
  list({ before, state, since = 0, person, limit = 100 }: ApprovalFilter): Approval[] {
    return this.#read(
      `WHERE created_at >= ?1 AND (?2 IS NULL OR state = ?2)
         AND (?3 IS NULL OR json_extract(requester, '$.userId') = ?3 OR json_extract(decided_by, '$.person.userId') = ?3)
         AND (?4 IS NULL OR seq < (SELECT seq FROM approval_v1 WHERE id = ?4))
       ORDER BY seq DESC LIMIT ?5`,
      since,
      state ?? null,
      person ?? null,
      before ?? null,
      Math.max(1, Math.min(limit, 1_000)),
    );
  }

  /**
   * Makes the table, which most conversations never need. Called before the first insert, outside of its transaction: a
   * transaction that fails would take the table away again.
   */
  makeTable(): void {
    this.#approvals.make();
  }

  #read(where: string, ...bindings: (string | number | null)[]): Approval[] {
    return this.#approvals.all(where, ...bindings).map(approvalOf);
  }
}

/** Whether work is left: decide, run, draw or tell. */
function isUnfinished({ asksPeople, drawnState, isInline, isTold, state }: Approval): boolean {
  // A call that asks people tells its outcome itself.
  if (isInline || asksPeople === true) return false;
  return isOpen(state) || !isTold || drawnState !== state;
}
