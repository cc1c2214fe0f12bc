/** Messengers: what a bot declares in `getMessengers()`, and what its code sees of them. */

// Declaring
export { defineMessengers, normalizeMessengers } from "./declare/define-messengers.ts";
export type { NormalizedMessengerDefinition } from "./declare/define-messengers.ts";
export { chatSdkMessenger } from "../../providers/chat-sdk/index.ts";
// oxlint-disable-next-line typescript/no-deprecated -- exported for bots that were written for `@cloudflare/think`
export { ThinkMessengerStateAgent } from "./declare/state-agent.ts";
export type {
  ConversationTarget,
  MessengerAllow,
  MessengerLimits,
  MessengerConversation,
  MessengerDefinition,
  MessengerOptions,
  MessengerRespondTo,
  ThinkMessengers,
  ToEventInput,
  UnconfiguredMessenger,
  VerifyWebhook,
} from "../core/chat/messenger.ts";
export type { DeliveryPolicy } from "../core/chat/delivery.ts";

// Inside a turn
export { getMessengerContext } from "../core/turn/turn-context.ts";
export type {
  AttachmentMetadata,
  ChatMemberEvent,
  FetchableAttachment,
  FetchAttachmentOptions,
  MessengerContext,
  MessengerContextMessage,
} from "../core/chat/messenger-context.ts";
export type {
  MessengerAction,
  MessengerAttachment,
  MessengerAuthor,
  MessengerCapabilities,
  MessengerCommand,
  MessengerEvent,
  MessengerEventKind,
  MessengerMemberChange,
  MessengerMessage,
  MessengerThread,
  QuotedMessage,
} from "../core/chat/messenger-event.ts";

// Commands
export type {
  CommandContext,
  CommandResult,
  CommandWords,
  ThinkCommand,
  ThinkCommands,
} from "./declare/commands.ts";

// Writing a provider
export type { ChatFacts, ChatKind, TopicFacts } from "../core/chat/chat.ts";
export type {
  BotIdentity,
  FetchedFile,
  IncomingEvent,
  MessengerPlatform,
  PlatformContext,
  PlatformVerification,
  ReceiveContext,
} from "../core/chat/messenger.ts";
export type {
  ActionNotice,
  Address,
  CallFailure,
  CallOptions,
  OutgoingMessage,
  Pacing,
  PostedMessage,
  Rate,
  Surface,
  SurfaceCapabilities,
} from "../core/chat/surface.ts";
export type { RichText, TextEntity, TextFormat, TextLimits } from "../core/message/rich-text.ts";
