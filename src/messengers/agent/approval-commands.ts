import type { ThinkCommands } from "../declare/commands.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

/** Returns `/approvals` and `/grants`, for bots whose actions ask people. */
export function approvalCommands(desk: () => Pick<ApprovalDesk, "overview" | "listGrants">): ThinkCommands {
  return {
    approvals: {
      description: "Show what waits for a decision",
      handler: ({ event }) => desk().overview(event),
    },
    grants: {
      description: "Show what I may do without asking",
      handler: ({ event }) => desk().listGrants(event),
    },
  };
}
