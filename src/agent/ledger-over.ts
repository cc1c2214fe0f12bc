import type {
  ActionLedger,
  Claim,
  ClaimRequest,
  LookResult,
  NextRun,
  RunEnd,
} from "../actions/ledger/ledger.ts";
import type { ActionStates, StoredState } from "../actions/memory/action-states.ts";
import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { BotObjects } from "../messengers/root/bot-objects.ts";

/** The calls to the root's ledger, for actions whose keys count in the whole bot. See `ActionLedger`. */
interface LedgerCalls {
  claim(request: ClaimRequest): Promise<Claim>;
  look(key: string, action: string, inputHash: string): Promise<LookResult>;
  end(key: string, runId: string, end: RunEnd): Promise<void>;
  again(key: string, runId: string): Promise<NextRun | undefined>;
}

/** The calls to the root's values of actions. */
interface StateCalls {
  read(key: string): Promise<StoredState | undefined>;
  write(...change: Parameters<ActionStates["write"]>): Promise<boolean>;
}

export const STATES: CallGroup<StateCalls> = { name: "action-states" };

/** The root's values of actions, called from another object of the bot. */
export function statesOver(objects: Pick<BotObjects, "root">): ActionStates {
  return objects.root(STATES);
}

const LEDGER: CallGroup<LedgerCalls> = { name: "ledger" };

/** Returns the ledger of the whole bot, which is in the root's object. */
export function ledgerOver(objects: Pick<BotObjects, "root">): ActionLedger {
  const root = objects.root(LEDGER);
  return {
    claim: (request) => root.claim(request),
    look: (...asked) => root.look(...asked),
    end: async (key, runId, end, withIt) => {
      await root.end(key, runId, end);
      withIt?.();
    },
    again: (...run) => root.again(...run),
  };
}
