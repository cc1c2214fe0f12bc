import { withWords } from "../declare/commands.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { AgentActions } from "./agent-actions.ts";
import type { BroadcastPart } from "./broadcast-part.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { approvalCommands } from "./approval-commands.ts";
import type { ScheduleDesk } from "./schedule-desk.ts";
import { subscribeCommands } from "./subscribe-commands.ts";

export interface CommandParts {
  readonly actions: Pick<AgentActions, "asksPeople" | "desk">;
  readonly broadcasts: BroadcastPart;
  readonly schedules: Pick<ScheduleDesk, "commands">;
}

/** Returns the bot's own commands, and those that it has switched on. */
export function botCommands(
  agent: Pick<AgentMethods, "getCommands" | "subscribeCommands" | "texts">,
  { actions, broadcasts, schedules }: CommandParts,
): ThinkCommands {
  const { texts = {} } = agent;
  const subscribing =
    agent.subscribeCommands === true ? subscribeCommands(texts, () => broadcasts.calls()) : {};
  const approvals = actions.asksPeople() ? approvalCommands(texts, () => actions.desk) : {};
  return withWords({ ...subscribing, ...approvals, ...schedules.commands() }, agent.getCommands());
}
