import type { MessengerDefinition } from "../../src/core/chat/messenger.ts";
import { type ChatSdkMessengerOptions, messengerOptionsOf, parseChatSdkOptions } from "./options.ts";
import { createChatSdkPlatform } from "./platform.ts";

export type { ChatSdkAdapter, ChatSdkMessengerOptions } from "./options.ts";
export type { TemplateContext } from "./templates.ts";
export type { ChatSdkUpdate, ChatSdkUpdateContext, ChatSdkUpdateKind } from "./events/updates.ts";
export { ChatSdkCallError } from "./errors/call-error.ts";

/**
 * Creates a bot on any platform with a Chat SDK adapter, for `getMessengers()`.
 *
 * @throws {ConfigurationError} when an option is missing or cannot work; the message tells the fix
 *
 * @example
 * ```ts
 * getMessengers() {
 *   return defineMessengers({
 *     slack: chatSdkMessenger({
 *       adapter: createSlackAdapter({ botToken, signingSecret }),
 *       verifyWebhook: false, // the adapter checks Slack's signature
 *     }),
 *   });
 * }
 * ```
 */
export function chatSdkMessenger(options: ChatSdkMessengerOptions): MessengerDefinition {
  const settings = parseChatSdkOptions(options);
  return { ...messengerOptionsOf(options), platform: createChatSdkPlatform(settings) };
}
