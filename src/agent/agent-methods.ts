import type { Observability } from "agents/observability";
import type { LanguageModel } from "ai";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import type { ModelPrices } from "../core/turn/used-tokens.ts";
import type { Content } from "../core/message/content.ts";
import type { ThinkMessengers } from "../core/chat/messenger.ts";
import type { AttachmentSurface, StoredAttachment } from "../core/message/reply-attachment.ts";
import type {
  ChatMemberEvent,
  FetchableAttachment,
  MessengerContext,
} from "../core/chat/messenger-context.ts";
import type { ConfiguredModel, ModelCallError } from "../models/index.ts";
import type { ApprovalMethods } from "../approvals/rules/bot-methods.ts";
import type { BroadcastMethods } from "../broadcasts/broadcasts-feature.ts";
import type { HookMethods } from "../hooks/hooks-feature.ts";
import type { QuestionMethods } from "../questions/bot-methods.ts";
import type { ToolMethods } from "../messengers/tools/bot-actions-host.ts";
import type { ChannelMethods } from "../messengers/turns/channel-policies.ts";
import type { ScheduleMethods } from "../schedules/rules/bot-methods.ts";
import type { ChatRecoveryConfig, ContextOverflowOptions } from "../turn/recovery/recovery-settings.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";

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
export interface AgentMethods
  extends
    ToolMethods,
    ChannelMethods,
    ApprovalMethods,
    QuestionMethods,
    ScheduleMethods,
    BroadcastMethods,
    HookMethods {
  readonly maxSteps: number;
  readonly maxContextTokens: number;
  readonly keepDeliveriesMs: number;
  readonly keepUsageMs: number;
  readonly modelPrices: ModelPrices;
  readonly interruptedStep: "restart" | "continue";
  readonly chatStreamStallTimeoutMs: number;
  readonly chatStreamFirstChunkTimeoutMs: number;
  readonly modelPatienceMs: number;
  readonly modelAttempts: number;
  readonly sendReasoning: boolean;
  readonly chatRecovery: true | ChatRecoveryConfig;
  readonly contextOverflow: ContextOverflowOptions | undefined;
  /** Of the `agents` package. Undefined switches its events off. */
  readonly observability?: Observability | undefined;
  getModel(): ThinkModel;
  getSystemPrompt(): string | Promise<string>;
  getMessengers(): ThinkMessengers;
  getCommands(): ThinkCommands;
  renderAttachment?(
    attachment: StoredAttachment,
    surface: AttachmentSurface,
  ): Content | undefined | Promise<Content | undefined>;
  onAction(press: CardPress): PressAnswer | Promise<PressAnswer>;
  onChatMember?(event: ChatMemberEvent): Content | undefined | void | Promise<Content | undefined | void>;
  onReaction?(reaction: MessengerContext): void | Promise<void>;
  transcribe?(audio: FetchableAttachment): string | undefined | Promise<string | undefined>;
}
