import type { RichText } from "../../src/core/message/rich-text.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import { answered, nextDoubt } from "./doubt.ts";
import { nextState } from "./outbox-state.ts";
import type { OutboxRow, OutboxStore } from "./outbox-store.ts";
import type { Part } from "../text/split/index.ts";

interface Stores {
  readonly outbox: OutboxStore;
}

/** Writes a row first and then changes it in memory, so that a failed write changes nothing. */
export function store(context: Stores, entry: OutboxEntry, change: Partial<OutboxRow>): void {
  const row = { ...entry.row, ...change };
  context.outbox.write(row);
  entry.row = row;
}

/** Returns the change for a post that was certainly not made. */
export function refused(row: OutboxRow): Pick<OutboxRow, "state" | "doubt"> {
  return { state: nextState(row.state, "refused"), doubt: answered(row.doubt) };
}

/**
 * Returns the change for a post that ended without an answer. If it can be searched for, nothing is posted before it
 * cannot land any more.
 */
export function lost(row: OutboxRow): Pick<OutboxRow, "state" | "doubts" | "doubt" | "retryAt"> {
  const { doubt } = row;
  const state = { state: nextState(row.state, "lost"), doubts: row.doubts + 1 };
  if (doubt?.kind !== "posting") return { ...state, doubt: undefined, retryAt: undefined };
  return {
    ...state,
    doubt: nextDoubt(doubt, "lost", { ...doubt, kind: "landing" }),
    retryAt: doubt.landsBy,
  };
}

/** Brings forward the time after which a post cannot land any more. Stored with its outcome. */
export function landsSooner(entry: OutboxEntry, by: number): void {
  const { doubt } = entry.row;
  if (doubt?.kind !== "posting") return;
  entry.row = { ...entry.row, doubt: { ...doubt, landsBy: Math.min(doubt.landsBy, by) } };
}

/** Notes that the message shows this part. Not stored by itself, because a second edit does no harm. */
export function shown(context: Stores, entry: OutboxEntry, part: Part<RichText>): void {
  entry.shownHash = part.hash;
  entry.interimFailingSince = undefined;
  const { failingSince, isLeaving, retryAt } = entry.row;
  if (failingSince === undefined && retryAt === undefined && isLeaving !== true) return;
  store(context, entry, {
    failingSince: undefined,
    isLeaving: undefined,
    retryAt: undefined,
    code: undefined,
  });
}

export function removed(context: Stores, entry: OutboxEntry): void {
  store(context, entry, {
    state: nextState(entry.row.state, "removed"),
    shownHash: undefined,
    failingSince: undefined,
    isLeaving: undefined,
    retryAt: undefined,
    code: undefined,
  });
  entry.shownHash = undefined;
}
