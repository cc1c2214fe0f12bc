import * as chat from "./chat.ts";
import type { Method } from "./context.ts";
import * as media from "./media.ts";
import * as rich from "./rich.ts";
import * as text from "./text.ts";
import * as webhook from "./webhook.ts";

const all: Readonly<Record<string, Method>> = {
  getMe: chat.getMe,
  setWebhook: webhook.setWebhook,
  deleteWebhook: webhook.deleteWebhook,
  getWebhookInfo: webhook.getWebhookInfo,
  getUpdates: webhook.getUpdates,
  sendMessage: text.sendMessage,
  sendMessageDraft: text.sendMessageDraft,
  sendRichMessage: rich.sendRichMessage,
  sendRichMessageDraft: rich.sendRichMessageDraft,
  editMessageText: text.editMessageText,
  editMessageCaption: text.editMessageCaption,
  editMessageMedia: media.editMessageMedia,
  editMessageReplyMarkup: text.editMessageReplyMarkup,
  deleteMessage: text.deleteMessage,
  deleteMessages: text.deleteMessages,
  sendChatAction: chat.sendChatAction,
  answerCallbackQuery: chat.answerCallbackQuery,
  sendPhoto: media.sendPhoto,
  sendDocument: media.sendDocument,
  sendVoice: media.sendVoice,
  sendAudio: media.sendAudio,
  sendVideo: media.sendVideo,
  sendAnimation: media.sendAnimation,
  sendLocation: media.sendLocation,
  sendVenue: media.sendVenue,
  sendMediaGroup: media.sendMediaGroup,
  getFile: media.getFile,
  setMyCommands: chat.setMyCommands,
  getMyCommands: chat.getMyCommands,
  deleteMyCommands: chat.deleteMyCommands,
  setMessageReaction: chat.setMessageReaction,
  getChat: chat.getChat,
  getChatMember: chat.getChatMember,
  pinChatMessage: chat.pinChatMessage,
  unpinChatMessage: chat.unpinChatMessage,
  leaveChat: chat.leaveChat,
};

const byLowerCase = new Map(Object.entries(all).map(([name, run]) => [name.toLowerCase(), { name, run }]));

/** Finds a method by name. As in the Bot API, upper and lower case are equal. */
export function findMethod(name: string): { readonly name: string; readonly run: Method } | undefined {
  return byLowerCase.get(name.toLowerCase());
}

/** Calls with a visible effect in a chat. Telegram's flood limits count them. */
export const floodCounted: ReadonlySet<string> = new Set(
  Object.keys(all).filter((name) =>
    /^(?:send|edit|delete(?:Message)|(?:un)?pin|setMessageReaction)/.test(name),
  ),
);
