import type { Action } from "../declare/action.ts";
import type { ActionLedger } from "./ledger.ts";

/** Whether an action only reads, and wants nothing that needs a record: no key and nobody's consent. */
export function isPlainRead(action: Action): boolean {
  const { annotations, approval, idempotencyKey, kind } = action;
  const asks = approval !== undefined && approval !== false;
  return annotations?.readOnly === true && kind === "server" && !asks && idempotencyKey === undefined;
}

/** A ledger that records nothing, for one call of an action that only reads. */
export function noLedger(): ActionLedger {
  let attempt = 1;
  return {
    claim: ({ key }) => ({ kind: "run", runId: key, attempt }),
    look: () => undefined,
    end: (_key, _runId, _end, withIt) => withIt?.(),
    again: (key) => ({ runId: key, attempt: (attempt += 1) }),
  };
}
