import type { ChatGate } from "../../../src/core/chat/gate.ts";
import { Crash } from "../machine/life.ts";
import type { Life } from "../machine/life.ts";
import type { Oracle } from "../oracle/oracle.ts";

export interface GateWatch {
  readonly chatId: string;
  readonly life: Life;
  readonly oracle: Oracle;
}

/** Returns the gate of a chat in a new process, watched by the oracle. */
export function watchGate(gate: ChatGate, { chatId, life, oracle }: GateWatch): ChatGate {
  oracle.onGateStarted(chatId);
  return {
    acquire: async (request) => {
      const grant = await gate.acquire(request);
      // A process that has died runs on until it would have an effect. Nobody gets its grants.
      if (life.isDead) throw new Crash("grant");
      oracle.onGrant(request, grant);
      return grant;
    },
    penalize: async (address, retryAfterMs, account) => {
      await gate.penalize(address, retryAfterMs, account);
      oracle.onPenalized(address, retryAfterMs);
    },
    report: (report) => gate.report(report),
    unclaimed: (question) => gate.unclaimed(question),
    noteCard: (report) => gate.noteCard(report),
    findCard: (question) => gate.findCard(question),
    claimMessage: (question) => gate.claimMessage(question),
  };
}
