import type { AgentToolRunStatus } from "agents/agent-tools";
import type { AgentRun } from "./agent-run-store.ts";
import { infoOf } from "./run-info.ts";

/** Which runs of other agents are forgotten. */
export interface RunFilter {
  /** Only those that began before this time, in epoch milliseconds. @default any time */
  olderThan?: number;
  /** Only those with one of these states. @default all */
  status?: AgentToolRunStatus[];
}

export function isMeant(run: AgentRun, { olderThan = Infinity, status }: RunFilter): boolean {
  return run.createdAt < olderThan && (status === undefined || status.includes(infoOf(run).status));
}
