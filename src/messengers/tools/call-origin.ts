import type { ActionCaller, ActionClient } from "../../actions/declare/caller.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { OutsideAsker } from "./action-questions.ts";
import type { CallFacts } from "./action-rights.ts";
import { payerOf } from "./call-facts.ts";

interface Origin {
  readonly client: ActionClient;
  readonly caller: ActionCaller;
}

/** Returns through what a call of the bot's own model runs, and who calls. */
export function originOf({ address, askOwnerIn, person, schedule }: CallFacts): Origin {
  const isOfSchedule = schedule !== undefined && schedule.agent === undefined;
  const kind = isOfSchedule ? "schedule" : person !== undefined ? "chat" : "code";
  return {
    client: { kind, ...(address !== undefined && { messengerId: address.messengerId }) },
    caller: {
      id: "bot",
      name: "bot",
      capabilities: {
        progress: address !== undefined,
        sampling: true,
        elicitation: isOfSchedule ? askOwnerIn !== undefined : person !== undefined,
      },
    },
  };
}

/** Returns the same for a call of another agent. */
export function outsideOf(
  facts: CallFacts,
  { id, name }: Pick<ActionCaller, "id" | "name">,
  elicitation: boolean,
): Origin {
  return {
    client: clientOutside(facts),
    caller: { id, name, capabilities: { progress: true, sampling: true, elicitation } },
  };
}

export function clientOutside(facts: CallFacts): ActionClient {
  return { ...originOf(facts).client, kind: "mcp" };
}

/**
 * Returns the conversation for which an agent works, as the one who asks people for it. Undefined for all other turns.
 *
 * @param run the run that the turn belongs to
 */
export function keeperOf(run: ScheduledRun | undefined, facts: CallFacts): OutsideAsker | undefined {
  const { agent, taskId: id } = facts.schedule ?? {};
  if (agent === undefined || id === undefined) return undefined;
  const canAsk = run?.delegation?.canAsk === true;
  return { caller: { id, name: agent }, canAsk, owner: undefined, payer: payerOf(facts) };
}
