import { joinAlbums } from "./albums.js";
import { run } from "./api.js";
import { edit, replyTo } from "./composer.js";
import { showAlert } from "./alert-dialog.js";
import { openMenu, toast } from "./dialogs.js";
import { byId, renderList } from "./dom.js";
import { focusSentence, hideEmptyChat, showEmptyChat } from "./empty-chat.js";
import { keepFocus } from "./keyboard-view.js";
import { draftView, messageView, typingView } from "./message-view.js";
import { nameOf, onError, openChat, page, userOf, writerId } from "./page-state.js";
import { showPinned, startPinnedBar } from "./pinned-bar.js";
import { updateInPlace } from "./update-in-place.js";

const seenAnswers = new Set();
/** Numbers of presses that are not answered yet, by message and person. Undefined: the press is on its way. */
const openPresses = new Map();
let isFirstView = true;
/** Whether the view is on its way to a message that the person has asked for. */
let isOnItsWay = false;
/** The open chat's messages by number. @type {Map<number, any>} */
let shown = new Map();

/** Makes the next view start at its newest message, because it shows another chat. */
export function startAtEnd() {
  isFirstView = true;
  isOnItsWay = false;
}

export function startMessagesPane() {
  const list = byId("messages");
  startPinnedBar(messageActions.show);
  list.addEventListener("scroll", showToEnd, { passive: true });
  list.addEventListener("scrollend", () => {
    isOnItsWay = false;
  });
  byId("to-end").addEventListener("click", scrollToEnd);
  new ResizeObserver(() => {
    if (isEndInSight) scrollToEnd();
  }).observe(list);
}

function scrollToEnd() {
  byId("messages").scrollTop = byId("messages").scrollHeight;
}

/**
 * Shows the open chat.
 *
 * @param {any} chat
 * @param {any} view the chat in the simulator's view
 */
export function showMessages(chat, view) {
  const list = byId("messages");
  const distance = list.scrollHeight - list.scrollTop - list.clientHeight;
  const isAtEnd = isFirstView || (distance < 80 && !isOnItsWay);
  const focused = hideEmptyChat(list);
  const me = writerId(chat);
  shown = new Map(view.messages.map((message) => [message.id, message]));
  const waiting = view.callbackAnswers.filter((answer) => answer.isWaiting);
  const messages = joinAlbums(view.messages);
  showPinned(view.messages);
  const items = messages.map((message, index) => {
    const before = messages[index - 1];
    const replied = message.replyToId === undefined ? undefined : shown.get(message.replyToId);
    const { isGrowing, versions, ...rest } = message;
    const reactions = rest.reactions.map(({ emoji, userId }) => ({ emoji, name: nameOf(userOf(userId)) }));
    const content = { ...rest, reactions };
    return {
      key: `${chat.id}:${message.id}`,
      message: content,
      versions,
      isOwn: message.from.id === me,
      isGroup: chat.type !== "private",
      isStreaming: isGrowing,
      startsRun: before === undefined || before.from.id !== message.from.id || before.service !== undefined,
      replied: replied && { id: replied.id, name: replied.from.name, text: replied.text.slice(0, 120) },
      waiting:
        waiting.filter((answer) => answer.messageId === message.id).length > 0
          ? message.buttons.flat().map((button) => button.callbackData)
          : [],
    };
  });
  const botName = nameOf(page.state.bot);
  if (view.draft !== undefined) items.push({ key: `${chat.id}:draft`, draft: view.draft });
  else if (view.typing !== undefined) items.push({ key: `${chat.id}:typing`, typing: view.typing });
  renderList(
    list,
    items,
    ({ key }) => key,
    (item) => {
      if (item.draft !== undefined)
        return draftView(item.draft, botName, () => run("stopDraft", { chatId: chat.id }).catch(onError));
      if (item.typing !== undefined) return typingView(botName, item.typing);
      return messageView(item, messageActions);
    },
    (old, made) => keepFocus(old, () => updateInPlace(old, made)),
  );
  if (items.length === 0) {
    const address = chat.type === "private" ? "" : `@${page.state.bot.username} `;
    const { threadId } = page.open;
    showEmptyChat(list, page.state.suggestions ?? [], (sentence) => {
      const body = { chatId: chat.id, userId: writerId(chat), text: `${address}${sentence}` };
      void run("sendText", { ...body, ...(threadId && { threadId }) }).catch(onError);
    });
    focusSentence(list, focused);
  }
  if (isAtEnd) list.scrollTop = list.scrollHeight;
  isFirstView = false;
  showToEnd();
  for (const image of list.querySelectorAll("img.photo:not([data-watched])")) watchImage(image, list);
  showAnswers(view.callbackAnswers);
}

/** Keeps the newest message visible when a picture loads late. */
function watchImage(image, list) {
  image.dataset.watched = "";
  image.addEventListener("load", () => {
    if (list.scrollHeight - list.scrollTop - list.clientHeight < image.clientHeight + 120)
      list.scrollTop = list.scrollHeight;
  });
}

/** Whether the newest message was visible after the last scroll. */
let isEndInSight = true;

function showToEnd() {
  const list = byId("messages");
  const distance = list.scrollHeight - list.scrollTop - list.clientHeight;
  isEndInSight = distance < 80;
  byId("to-end").hidden = distance < 200;
}

/** Whether a message is not wholly visible, so that showing it will scroll, and end with `scrollend`. */
function needsScroll(node) {
  const list = byId("messages").getBoundingClientRect();
  const { bottom, top } = node.getBoundingClientRect();
  return top < list.top || bottom > list.bottom;
}

const messageActions = {
  press: (messageId, data) => {
    const chat = openChat();
    if (chat === undefined) return;
    const press = { chatId: chat.id, userId: writerId(chat), messageId };
    const key = JSON.stringify(press);
    if (openPresses.has(key)) return;
    openPresses.set(key, undefined);
    run("pressButton", { ...press, data }).then(
      ({ query }) => {
        if (seenAnswers.has(query.id)) openPresses.delete(key);
        else openPresses.set(key, query.id);
      },
      (error) => {
        openPresses.delete(key);
        onError(error);
      },
    );
  },
  copy: (text) => {
    navigator.clipboard.writeText(text).then(() => toast("Copied"), onError);
  },
  show: (messageId) => {
    const album = shown.get(messageId)?.mediaGroupId;
    const first = [...shown.values()].find(
      ({ mediaGroupId }) => album !== undefined && mediaGroupId === album,
    );
    const node = byId("messages").querySelector(`[data-message-id="${first?.id ?? messageId}"]`);
    if (node !== null && needsScroll(node)) isOnItsWay = true;
    node?.scrollIntoView({ block: "center", behavior: "smooth" });
    node?.classList.add("flash");
    setTimeout(() => node?.classList.remove("flash"), 1500);
  },
  menu: (messageId, anchor) => {
    const chat = openChat();
    const message = shown.get(messageId);
    if (chat === undefined || message === undefined) return;
    const userId = writerId(chat);
    const place = { chatId: chat.id, userId, messageId: message.id };
    const isOwn = message.from.id === userId;
    openMenu(anchor, [
      { label: "Reply", run: () => replyTo(message) },
      ...(isOwn && message.attachments.length === 0 ? [{ label: "Edit", run: () => edit(message) }] : []),
      ...(message.isProtected ? [] : [{ label: "Copy text", run: () => messageActions.copy(message.text) }]),
      ...reactionEntries(message, place),
      message.pinned
        ? { label: "Unpin", run: () => void run("unpin", place).catch(onError) }
        : { label: "Pin", run: () => void run("pin", place).catch(onError) },
      { label: "Delete", run: () => void run("deleteMessage", place).catch(onError) },
    ]);
  },
};

const offeredReactions = ["👍", "👎", "❤", "🎉"];

function reactionEntries({ reactions }, place) {
  const react = (emoji) => () => void run("react", { ...place, emoji }).catch(onError);
  const own = reactions.find(({ userId }) => userId === place.userId)?.emoji;
  return [
    ...offeredReactions
      .filter((emoji) => emoji !== own)
      .map((emoji) => ({ label: `React with ${emoji}`, run: react(emoji) })),
    ...(own === undefined ? [] : [{ label: "Take the reaction back", run: react(undefined) }]),
  ];
}

/** Shows the bot's answer to a press: a notice, or a dialog. Each answer is shown once. */
function showAnswers(answers) {
  for (const [key, queryId] of openPresses) {
    const answer = answers.find((one) => one.queryId === queryId);
    if (answer === undefined) continue;
    if (!answer.isWaiting) openPresses.delete(key);
  }
  for (const answer of answers) {
    if (answer.answeredAt === undefined || seenAnswers.has(answer.queryId)) continue;
    seenAnswers.add(answer.queryId);
    if (answer.text === undefined || page.state.now - answer.answeredAt > 10_000) continue;
    if (answer.showAlert) showAlert(answer.text);
    else toast(answer.text);
  }
}
