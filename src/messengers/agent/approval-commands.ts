import { ENGLISH_TEXTS } from "../../core/bot-texts.ts";
import type { BotTexts } from "../../core/bot-texts.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

/** Returns `/approvals` and `/grants`, for bots whose actions ask people. */
export function approvalCommands(
  texts: BotTexts,
  desk: () => Pick<ApprovalDesk, "overview" | "listGrants">,
): ThinkCommands {
  return {
    approvals: {
      description: texts.approvalsCommand ?? ENGLISH_TEXTS.approvalsCommand,
      handler: ({ event }) => desk().overview(event),
    },
    grants: {
      description: texts.grantsCommand ?? ENGLISH_TEXTS.grantsCommand,
      handler: ({ event }) => desk().listGrants(event),
    },
  };
}
