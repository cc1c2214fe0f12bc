/** Switchboard: a durable AI agent behind every chat thread. */

// The bot
export { Think } from "./think.ts";
export type { AgentStub } from "./agent/agent-stub.ts";
export type { ThinkTools } from "./turn/tools/bot-tools.ts";
export type { ModelPrices, TokenUsageEntry, UsageFilter } from "./core/turn/used-tokens.ts";
export type { FallbackModels, ThinkModel } from "./agent/agent-methods.ts";
export type { ModelCallError } from "./models/index.ts";
export { createWorker } from "./create-worker.ts";
export type { WorkerOptions } from "./create-worker.ts";
export type { BotEnvironment } from "./bot-environment.ts";

// Models
export { defaultContextOverflowClassifier, modelFromEnv, transcriberFromEnv } from "./models/index.ts";
export type {
  ConfiguredModel,
  ModelEnvironment,
  Transcriber,
  TranscriptionEnvironment,
} from "./models/index.ts";

// Streaming a turn over RPC
export type { StreamCallback } from "./turn/chat-stream.ts";

// Turns that the bot's own code begins
export { getTurn } from "./core/turn/turn-context.ts";
export type { PromptMetadata, TurnInfo, TurnKind } from "./core/turn/turn-info.ts";
export type {
  ChatOptions,
  ContinueResult,
  RunTurnOptions,
  RunTurnResult,
  SaveMessagesResult,
  Submission,
  SubmissionDeletion,
  SubmissionFilter,
  SubmissionStatus,
  SubmitMessagesOptions,
  SubmitMessagesResult,
  WaitOptions,
} from "./submissions/submissions.ts";
export type { SubmissionInput } from "./messengers/turns/question-messages.ts";

// Scheduled tasks
export type { BotSchedules } from "./schedules/bot-schedules.ts";
export { defineScheduledTasks } from "./schedules/rules/scheduled-task.ts";
export type {
  DeliverTo,
  DeliveryTarget,
  HandlerTask,
  Lateness,
  PromptTask,
  ScheduledOccurrence,
  ThinkScheduledTask,
  ThinkScheduledTasks,
} from "./schedules/rules/scheduled-task.ts";
export type { QuietHours } from "./scheduled-runs/quiet-hours.ts";
export type { ChatScheduleOptions, SchedulePerson } from "./schedules/rules/chat-schedule.ts";
export type { ScheduleKind } from "./schedules/rules/rule.ts";
export type { ScheduleText } from "./schedules/rules/schedule-text.ts";
export type { ScheduledTaskRecord } from "./schedules/stored/task-record.ts";
export type {
  OccurrenceDelivery,
  OccurrenceFilter,
  OccurrenceRecord,
  OccurrenceState,
} from "./schedules/rules/occurrence.ts";

// Channels
export type {
  ChannelContext,
  ChannelDefinition,
  ChannelKind,
  ThinkChannels,
} from "./messengers/declare/channels.ts";

// Hooks
export type {
  ChatErrorClassification,
  ChatErrorContext,
  ChatResponseResult,
  ChunkContext,
  PrepareStepContext,
  StepConfig,
  StepContext,
  ThinkHooks,
  ToolCallContext,
  ToolCallDecision,
  ToolCallResultContext,
  TurnConfig,
  TurnContext,
} from "./turn/hooks.ts";
export type {
  ChatRecoveryConfig,
  ChatRecoveryContext,
  ChatRecoveryExhaustedContext,
  ChatRecoveryOptions,
  ContextOverflowOptions,
} from "./turn/recovery/recovery-settings.ts";

// Actions
export { action, defineAction } from "./action.ts";
export type { ActionBuilder } from "./actions/declare/action-builder.ts";
export type { ActionContext, ActionOptions } from "./action.ts";
export type { OfferContext } from "./actions/declare/action-context.ts";
export type {
  Action,
  ActionCall,
  ActionKind,
  ActionVerdict,
  ApproverRole,
  Approvers,
  AskTarget,
  FailedRun,
  ThinkActions,
} from "./actions/declare/action.ts";
export type { ActionAnnotations } from "./actions/declare/action-annotations.ts";
export { ActionError } from "./actions/declare/action-errors.ts";
export type {
  Answer,
  ChooseOption,
  ChooseQuestion,
  ConfirmQuestion,
  ElicitQuestion,
  QuestionOptions,
  BotAnswer,
  BotQuestion,
  QuestionPeople,
  Unanswered,
} from "./core/chat/question.ts";
export type { ThinkQuestions } from "./questions/bot-methods.ts";
export type { ActionCaller, ActionClient } from "./actions/declare/caller.ts";
export type { ActionLogEntry } from "./actions/declare/log-action-failure.ts";
export type { ActionMemory, MemoryOptions, ShortTermMemory } from "./actions/declare/memory-options.ts";
export type { Sample, SampleRequest } from "./actions/declare/sample.ts";
export type { ProgressUpdate } from "./actions/declare/progress.ts";
export { roles } from "./actions/declare/authorize.ts";
export type {
  ActionAuthorization,
  ActionAuthorizationDecision,
  ActionCallContext,
  ActionTurnContext,
} from "./actions/declare/authorize.ts";

// Questions
export { fileSchema, photoSchema, placeSchema } from "./forms/answer-schemas.ts";
export type { SentFile, SentFileLimits, SentPlace } from "./forms/answer-schemas.ts";

// Approvals
export type { BotApprovals } from "./approvals/bot-approvals.ts";
export type { ApprovalState, ApproverRule, Decider } from "./approvals/rules/approval.ts";
export type { GrantLength } from "./approvals/rules/grant-length.ts";
export type { PermissionPeople } from "./actions/declare/permission-people.ts";
export type { Amount } from "./core/text/amount.ts";
export type { GrantScope } from "./core/action/grant-scope.ts";
export type { ApprovalWords } from "./core/action/decision-word.ts";
export { ENGLISH_TEXTS } from "./core/text/english-texts.ts";
export type { BotTexts, OneText, TextName, TextTable, TextValues } from "./core/text/bot-texts.ts";
export type { ApprovalFilter } from "./approvals/stored/approval-store.ts";
export type { ApprovalRecord, ExecutionDecision, GrantRecord } from "./approvals/rules/approval-record.ts";
export type {
  ActionApprovalDescriptor,
  PendingApproval,
  PlainJson,
} from "./approvals/rules/pending-approval.ts";
export type { ApprovalChange, ApprovalPreview } from "./core/action/approval-preview.ts";
export type { IndexedApproval } from "./approvals/rules/approval-index.ts";
export type { ApprovalRisk } from "./core/action/approval-risk.ts";

// Calls of other systems
export type { HookProof, IncomingCall, IncomingHook, IncomingHooks } from "./hooks/incoming-hooks.ts";

// Commands
export type {
  CommandContext,
  CommandResult,
  CommandWords,
  ThinkCommand,
  ThinkCommands,
} from "./messengers/declare/commands.ts";

// Content
export type {
  CallbackButton,
  CardButton,
  CardContent,
  CardField,
  Content,
  ContentOptions,
  CopyButton,
  FileAddress,
  FileKind,
  FilesContent,
  FileSource,
  Json,
  LinkButton,
  LocationContent,
  OutgoingFile,
  RemoteFile,
  ReviseOptions,
  StoredFile,
  TextContent,
} from "./core/message/content.ts";
export type { CardPress, PressAnswer } from "./core/chat/card-press.ts";
export type { ActionNotice, Address } from "./core/chat/surface.ts";
export type { LocalText } from "./core/text/local-text.ts";

// Attachments of replies
export type {
  AttachmentSurface,
  CardAttachment,
  CustomAttachment,
  EmailDraftAttachment,
  FileAttachment,
  LocationAttachment,
  ReplyAttachment,
  StoredAttachment,
  VoiceNoteAttachment,
} from "./core/message/reply-attachment.ts";

// Errors
export { ConfigurationError, errorCode, InvalidInputError, SwitchboardError } from "./core/base/errors.ts";

// Chats
export type { ChatEntry, ChatFilter, ChatKind, ChatPage, ChatTopic } from "./core/chat/chat.ts";

// Sending
export type { ChatTarget, SayOptions, TargetProblem } from "./core/chat/chat-target.ts";

// Notices
export type { NoticeOptions } from "./broadcasts/notice.ts";

// Broadcasts
export type { BotBroadcasts } from "./broadcasts/bot-broadcasts.ts";
export type {
  Broadcast,
  BroadcastOptions,
  BroadcastReceipt,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  BroadcastState,
  BroadcastTarget,
  BroadcastTargets,
  ManyTargets,
  Subscriber,
  SubscriberFilter,
  SubscriberPage,
  TargetState,
} from "./core/turn/broadcast.ts";

// Memory
export type { CompactFunction, Compaction } from "./turn/model/own-compaction.ts";
export type {
  ContextBlock,
  ContextProvider,
  FoundText,
  PersonOf,
  SearchResult,
  Session,
} from "./feature/session.ts";

// Delivery
export type { BotDeliveries } from "./messengers/thread/bot-deliveries.ts";
export type { DeliveryMode } from "./core/chat/delivery-mode.ts";
export type {
  DeliveryFilter,
  DeliveryPolicy,
  DeliveryReceipt,
  MessageReceipt,
  OutboxState,
  ReplyState,
} from "./core/chat/delivery.ts";
