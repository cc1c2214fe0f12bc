import type { BotTexts } from "../../core/text/bot-texts.ts";
import type { FeatureHost } from "../../feature/feature-host.ts";
import type { IndexedApproval } from "./approval-index.ts";
import type { ApprovalWords } from "../../core/action/decision-word.ts";

/** The methods of the bot's class that are about approvals. */
export interface ApprovalMethods {
  readonly approvalWords: ApprovalWords;
  readonly keepApprovalsMs: number;
  readonly texts?: BotTexts;
  getDefaultTimezone(): string | undefined;
  onApprovalRequested?(approval: IndexedApproval): void | Promise<void>;
}

/** An object of the bot, as its approvals use it. */
export type ApprovalsHost = FeatureHost<ApprovalMethods>;
