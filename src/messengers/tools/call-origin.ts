import type { ActionCaller, ActionClient } from "../../actions/declare/caller.ts";
import type { CallFacts } from "./action-rights.ts";

interface Origin {
  readonly client: ActionClient;
  readonly caller: ActionCaller;
}

/** Returns through what a call of the bot's own model runs, and who calls. */
export function originOf({ address, askOwnerIn, person, schedule }: CallFacts): Origin {
  const kind = schedule !== undefined ? "schedule" : person !== undefined ? "chat" : "code";
  return {
    client: { kind, ...(address !== undefined && { messengerId: address.messengerId }) },
    caller: {
      id: "bot",
      name: "bot",
      capabilities: {
        progress: address !== undefined,
        sampling: true,
        elicitation: schedule === undefined ? person !== undefined : askOwnerIn !== undefined,
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
