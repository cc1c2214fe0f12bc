import { localText } from "../../core/bot-texts.ts";
import type { BotTexts } from "../../core/bot-texts.ts";
import type { ThinkCommands } from "../../messengers/declare/commands.ts";
import type { ApprovalOverview } from "./approval-overview.ts";
import type { GrantOverview } from "./grant-overview.ts";

/** Returns `/approvals` and `/grants`, for bots whose actions ask people. */
export function approvalCommands(
  texts: BotTexts,
  overview: ApprovalOverview,
  grants: GrantOverview,
): ThinkCommands {
  return {
    approvals: {
      description: localText(texts, "approvalsCommand"),
      handler: ({ event }) => overview.list(event),
    },
    grants: {
      description: localText(texts, "grantsCommand"),
      handler: ({ event }) => grants.list(event),
    },
  };
}
