import type { ThinkCommands } from "../declare/commands.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

/** Returns `/approvals`, for bots whose actions ask people. */
export function approvalCommands(desk: () => Pick<ApprovalDesk, "overview">): ThinkCommands {
  return {
    approvals: {
      description: "Show what waits for a decision",
      handler: ({ event }) => desk().overview(event),
    },
  };
}
