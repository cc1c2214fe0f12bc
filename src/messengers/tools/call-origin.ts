import type { ActionCaller, ActionClient } from "../../actions/declare/caller.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { OutsideAsker } from "./outside-asker.ts";
import type { CallFacts } from "./action-rights.ts";
import { payerOf } from "./call-facts.ts";

interface Origin {
  readonly client: ActionClient;
  readonly caller: ActionCaller;
}

/** Returns through what a call runs, and who calls: the bot's own model, or another agent. */
export function originOf(facts: CallFacts): Origin {
  const { address, askOwnerIn, outside, person, schedule } = facts;
  if (outside !== undefined) {
    const { canAsk, caller, owner } = outside;
    const elicitation = canAsk || address !== undefined || owner !== undefined;
    return {
      client: clientOutside(facts),
      caller: {
        id: caller.id,
        name: caller.name,
        capabilities: { progress: true, sampling: true, elicitation },
      },
    };
  }
  const isOfSchedule = schedule !== undefined && schedule.agent === undefined;
  const kind = isOfSchedule ? "schedule" : person !== undefined ? "chat" : "code";
  return {
    client: { kind, ...messengerOf(facts) },
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

export function clientOutside(facts: CallFacts): ActionClient {
  return { kind: "mcp", ...messengerOf(facts) };
}

function messengerOf({ address }: CallFacts): Pick<ActionClient, "messengerId"> {
  return address === undefined ? {} : { messengerId: address.messengerId };
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
