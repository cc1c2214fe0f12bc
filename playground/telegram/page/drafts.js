/**
 * Half-written messages of the chats that are not open. Each topic has its own.
 *
 * @typedef {{
 *   text: string,
 *   asFile: boolean,
 *   context: { replyTo?: any, edit?: any, textBefore?: string, file?: File },
 * }} Draft
 */

/** By chat, then by topic (0: none), newest last. @type {Map<number, Map<number, Draft>>} */
const drafts = new Map();

/** @param {{ chatId: number, threadId: number }} place @param {Draft} draft */
export function keepDraft({ chatId, threadId }, draft) {
  const ofChat = drafts.get(chatId) ?? new Map();
  ofChat.delete(threadId);
  if (draft.text.trim() !== "" || Object.keys(draft.context).length > 0) ofChat.set(threadId, draft);
  drafts.set(chatId, ofChat);
}

/** Returns the draft and forgets it. @param {{ chatId: number, threadId: number }} place @returns {Draft} */
export function takeDraft({ chatId, threadId }) {
  const draft = drafts.get(chatId)?.get(threadId);
  drafts.get(chatId)?.delete(threadId);
  return draft ?? { text: "", asFile: false, context: {} };
}

/**
 * Returns the first words of a chat's newest draft for the list of chats. Edits do not count. @param {number} chatId
 */
export function draftWords(chatId) {
  const words = [...(drafts.get(chatId)?.values() ?? [])]
    .filter(({ context }) => context.edit === undefined)
    .map(({ text, context }) => text.trim() || (context.file?.name ?? ""));
  return words.findLast((one) => one !== "");
}
