import { localText } from "../../core/bot-texts.ts";
import type { BotTexts } from "../../core/bot-texts.ts";
import type { ThinkCommands } from "../../messengers/declare/commands.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

/** Returns `/approvals` and `/grants`, for bots whose actions ask people. */
export function approvalCommands(
  texts: BotTexts,
  desk: Pick<ApprovalDesk, "overview" | "listGrants">,
): ThinkCommands {
  return {
    approvals: {
      description: localText(texts, "approvalsCommand"),
      handler: ({ event }) => desk.overview(event),
    },
    grants: {
      description: localText(texts, "grantsCommand"),
      handler: ({ event }) => desk.listGrants(event),
    },
  };
}
