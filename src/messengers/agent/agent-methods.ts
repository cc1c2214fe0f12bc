import type { Observability } from "agents/observability";
import type { LanguageModel, ToolSet } from "ai";
import type { BotTexts } from "../../core/bot-texts.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { ThinkActions } from "../../actions/action.ts";
import type { ApprovalWords } from "../../approvals/decision-word.ts";
import type { ActionAuthorization, ActionCallContext, ActionTurnContext } from "../../actions/authorize.ts";
import type { IndexedApproval } from "../../approvals/approval-index.ts";
import type { ModelPrices } from "../../core/used-tokens.ts";
import type { Content } from "../../core/content.ts";
import type { Address } from "../../core/surface.ts";
import type { ThinkMessengers } from "../../core/messenger.ts";
import type { AttachmentSurface, StoredAttachment } from "../../core/reply-attachment.ts";
import type { ChatMemberEvent, FetchableAttachment, MessengerContext } from "../../core/messenger-context.ts";
import type { ConfiguredModel, ModelCallError } from "../../models/index.ts";
import type { ChatScheduleOptions, QuietHours, ThinkScheduledTasks } from "../../schedules/index.ts";
import type { IncomingHooks } from "../declare/incoming-hooks.ts";
import type { ThinkChannels } from "../declare/channels.ts";
import type { ThinkCommands } from "../declare/commands.ts";

/** An AI SDK model, the id of a Workers AI model, or the result of `modelFromEnv`. */
export type SingleModel = Exclude<LanguageModel, string> | string | ConfiguredModel;

/** Several models. The next one is asked if one fails before its first word. */
export interface FallbackModels {
  /** The first one is asked first, unless it has failed within the last minute. */
  readonly models: readonly SingleModel[];
  /**
   * Decides after which failures the next model is asked.
   *
   * @default all, except a conversation that is too long and an answer that is
   */
  readonly isFailure?: (error: ModelCallError) => boolean;
}

/** One model, or several with fallbacks. */
export type ThinkModel = SingleModel | FallbackModels;

/** The methods of the bot's own class that the runtime calls. */
export interface AgentMethods {
  readonly maxSteps: number;
  readonly maxContextTokens: number;
  readonly keepDeliveriesMs: number;
  readonly keepUsageMs: number;
  readonly keepApprovalsMs: number;
  readonly modelPrices: ModelPrices;
  readonly interruptedStep: "restart" | "continue";
  readonly chatStreamStallTimeoutMs: number;
  readonly chatStreamFirstChunkTimeoutMs: number;
  readonly modelPatienceMs: number;
  readonly modelAttempts: number;
  readonly sendReasoning: boolean;
  /** Of the `agents` package. Undefined switches its events off. */
  readonly observability?: Observability | undefined;
  getModel(): ThinkModel;
  getSystemPrompt(): string | Promise<string>;
  getTools(): ToolSet | Promise<ToolSet>;
  getActions(): ThinkActions;
  authorizeTurn(context: ActionTurnContext): ActionAuthorization;
  authorizeAction(context: ActionCallContext): ActionAuthorization;
  readonly approvalWords: ApprovalWords;
  readonly texts?: BotTexts;
  readonly actionLedgerPendingRetryLeaseMs: number | false;
  getMessengers(): ThinkMessengers;
  getCommands(): ThinkCommands;
  readonly subscribeCommands?: boolean;
  configureChannels?(): ThinkChannels;
  getIncomingHooks?(): IncomingHooks;
  onApprovalRequested?(approval: IndexedApproval): void | Promise<void>;
  readonly chatSchedules: boolean | ChatScheduleOptions;
  getScheduledTasks(): ThinkScheduledTasks;
  getDefaultTimezone(): string | undefined;
  quietHoursOf?(chat: Address): QuietHours | undefined | Promise<QuietHours | undefined>;
  renderAttachment?(
    attachment: StoredAttachment,
    surface: AttachmentSurface,
  ): Content | undefined | Promise<Content | undefined>;
  onAction(press: CardPress): PressAnswer | Promise<PressAnswer>;
  onChatMember?(event: ChatMemberEvent): Content | undefined | void | Promise<Content | undefined | void>;
  onReaction?(reaction: MessengerContext): void | Promise<void>;
  transcribe?(audio: FetchableAttachment): string | undefined | Promise<string | undefined>;
}
