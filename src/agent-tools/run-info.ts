import type { AgentToolLifecycleResult, AgentToolRunInfo } from "agents/agent-tools";
import type { AgentRun } from "./agent-run-store.ts";

/** Returns a run as hooks of the bot's class get it. */
export function infoOf({
  agent,
  agentClass,
  createdAt,
  end,
  endedAt,
  id,
  state,
  toolCallId,
}: AgentRun): AgentToolRunInfo {
  return {
    runId: id,
    agentType: agentClass,
    status: state === "starting" ? "starting" : state === "ended" ? (end?.status ?? "aborted") : "running",
    display: { name: agent },
    displayOrder: 0,
    startedAt: createdAt,
    ...(toolCallId !== "" && { parentToolCallId: toolCallId }),
    ...(endedAt !== undefined && { completedAt: endedAt }),
  };
}

/** Returns the end of a run as hooks of the bot's class get it. */
export function finishedOf({ end }: AgentRun): AgentToolLifecycleResult {
  const { error, status = "aborted", text } = end ?? {};
  return { status, ...(text !== undefined && { summary: text }), ...(error !== undefined && { error }) };
}
