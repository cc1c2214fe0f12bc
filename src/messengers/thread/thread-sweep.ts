import type { Database } from "../../core/store/database.ts";
import type { Clock } from "../../core/base/deps.ts";
import { Sweep } from "../../core/store/sweep-store.ts";
import { KEPT_KEYS_MS } from "../../inbox/kept-keys.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ended prompts are kept this long, so that bot code can ask for their outcome. */
const KEEP_PROMPTS_MS = 30 * DAY_MS;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/** Returns the sweep of a conversation. Notes that no turn has taken stay. */
export function threadSweep(database: Database, clock: Clock): Sweep {
  const old = [
    { table: "inbox_v1", where: "state = 'done'", since: "received_at", keepMs: KEPT_KEYS_MS },
    { table: "placeholder_v1", since: "expires_at", keepMs: 0 },
    { table: "prompt_v1", since: "ended_at", keepMs: KEEP_PROMPTS_MS },
    { table: "note_v1", where: "turn_id IS NOT NULL", since: "at", keepMs: KEEP_PROMPTS_MS },
  ];
  return new Sweep(database, clock, old, SWEEP_EVERY_MS);
}
