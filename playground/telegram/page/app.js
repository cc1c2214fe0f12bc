import { read, run, watch } from "./api.js";
import { setCommands } from "./command-list.js";
import { focusField, noteDraft, startComposer, writeTo } from "./composer.js";
import { startAlert } from "./alert-dialog.js";
import { askForTopic, openMenu, startDialogs } from "./dialogs.js";
import { avatar, byId, clockTime, element, paintAvatar, renderList } from "./dom.js";
import { draftWords } from "./drafts.js";
import { openLog, showFaults, showLogs, startInspector } from "./inspector.js";
import { showMessages, startAtEnd, startMessagesPane } from "./messages-pane.js";
import { showClock } from "./schedules.js";
import { nameOf, onError, openChat, page, titleOf, userOf, writerId } from "./page-state.js";
import { startTypeAhead } from "./type-ahead.js";

let isLost = false;
let stopWatching = () => undefined;

/** Shows everything that is open now, and again after each change. */
function showOpen() {
  const { chatId = wantedChatId(), threadId } = page.open;
  const chat = openChat();
  const asked = { chatId, threadId, userId: chat && writerId(chat), log: openLog() };
  stopWatching();
  stopWatching = watch(
    asked,
    (answer) => showView(asked, answer),
    (lost) => {
      isLost = lost;
      showBanner();
    },
  );
}

function showView(asked, { now, view }) {
  page.state = { ...view.state, now };
  if (openChat() === undefined) chooseFirstChat();
  showBanner();
  showClock();
  showChats();
  showHeader();
  showFaults(page.state.faults);
  showLogs(view);
  const chat = openChat();
  if (chat === undefined) {
    byId("messages").replaceChildren(emptyView());
    return;
  }
  const isOther = asked.chatId !== chat.id || asked.threadId !== page.open.threadId;
  if (!isOther) {
    setCommands(view.chat.commands, chat.type === "private" ? "" : `@${page.state.bot.username}`);
    showMessages(chat, view.chat);
  }
  // The person who has written may have left.
  if (isOther || (asked.userId ?? writerId(chat)) !== writerId(chat)) showOpen();
}

/** The chat that the page's address names. */
function wantedChatId() {
  const id = Number(location.hash.slice(1));
  return id !== 0 && Number.isSafeInteger(id) ? id : undefined;
}

function chooseFirstChat() {
  const wanted = wantedChatId();
  const chat = page.state.chats.find(({ id }) => id === wanted) ?? page.state.chats[0];
  if (chat === undefined) return;
  page.open = { chatId: chat.id, threadId: chat.isForum ? 0 : undefined };
  writeTo(chat.id, page.open.threadId);
  showHeader();
  if (document.activeElement === document.body) focusField();
}

function goTo(chatId, threadId) {
  const chat = page.state.chats.find(({ id }) => id === chatId);
  page.open = { chatId, threadId: threadId ?? (chat?.isForum ? 0 : undefined) };
  history.replaceState(null, "", `#${chatId}`);
  startAtEnd();
  writeTo(chatId, page.open.threadId);
  if (chat !== undefined) showHeader();
  document.body.dataset.view = "chat";
  focusField();
  showOpen();
}

/** Opens a chat that may have been made just now. */
async function openNew(chatId) {
  page.state = await read("state");
  goTo(chatId);
}

function showBanner() {
  const { botProblem, url, problem, pending } = page.state.webhook;
  const waiting = pending === 1 ? "1 update waits" : `${pending} updates wait`;
  let text = "";
  if (isLost) text = "The simulator cannot be reached. This page reconnects when it is back.";
  else if (url === undefined)
    text = "No bot is connected yet. Your messages are kept until a bot sets its webhook.";
  else if (botProblem !== undefined) text = `The bot is not ready: ${botProblem}`;
  else if (problem !== undefined) {
    text = `The bot cannot be reached at ${url} (${problem}). ${waiting} and will be delivered when the bot answers.`;
  }
  byId("banner").hidden = text === "";
  byId("banner-retry").hidden = isLost || problem === undefined;
  if (byId("banner-text").textContent !== text) byId("banner-text").textContent = text;
}

function showChats() {
  const items = page.state.chats
    .toSorted((left, right) => (right.last?.at ?? 0) - (left.last?.at ?? 0))
    .map((chat) => ({
      id: chat.id,
      title: titleOf(chat),
      preview: chat.action === undefined ? (chat.last?.text ?? "") : "typing…",
      draft: chat.action === undefined && !isInSight(chat.id) ? draftWords(chat.id) : undefined,
      isOwn: chat.last !== undefined && chat.last.fromId === chat.id,
      time: chat.last === undefined ? "" : clockTime(chat.last.date),
      isOpen: chat.id === page.open.chatId,
    }));
  renderList(
    byId("chat-list"),
    items,
    (item) => String(item.id),
    (item) =>
      element(
        "li",
        {},
        element(
          "button",
          { type: "button", "aria-current": item.isOpen ? "true" : undefined, onclick: () => goTo(item.id) },
          avatar(item.title, item.id),
          element(
            "span",
            { class: "chat-text" },
            element(
              "span",
              { class: "chat-line" },
              element("strong", {}, item.title),
              element("time", {}, item.time),
            ),
            previewView(item),
          ),
        ),
      ),
  );
}

/** False on a phone while the list of chats covers the open chat. */
function isInSight(chatId) {
  return chatId === page.open.chatId && byId("composer").checkVisibility();
}

function previewView({ draft, preview }) {
  if (draft === undefined) return element("span", { class: "chat-preview" }, preview || "No messages yet");
  return element("span", { class: "chat-preview" }, element("em", {}, "Draft:"), ` ${draft}`);
}

function showHeader() {
  const chat = openChat();
  byId("composer").hidden = chat === undefined;
  byId("chat-menu-button").hidden = chat === undefined;
  byId("chat-avatar").hidden = chat === undefined;
  byId("topics").hidden = chat?.isForum !== true;
  byId("writer-label").hidden = chat === undefined || chat.type === "private";
  if (chat === undefined) {
    byId("chat-title").textContent = "No chat yet";
    byId("chat-subtitle").textContent = "";
    return;
  }
  const isPrivate = chat.type === "private";
  const title = isPrivate ? nameOf(page.state.bot) : titleOf(chat);
  paintAvatar(byId("chat-avatar"), title, isPrivate ? page.state.bot.id : chat.id);
  byId("chat-title").textContent = title;
  const members = chat.members.length === 1 ? "1 person" : `${chat.members.length} people`;
  const botName = `@${page.state.bot.username}`;
  const notes = [
    ...(isPrivate ? [`as ${titleOf(chat)}`, botName] : [`${chat.type}, ${members} and ${botName}`]),
    chat.blocked ? "bot blocked" : "",
    chat.botStatus === "kicked" ? "bot removed" : "",
  ];
  byId("chat-subtitle").textContent = notes.filter(Boolean).join(" · ");
  const writer = byId("writer");
  const names = chat.members.map((id) => ({ id, name: nameOf(userOf(id) ?? { first_name: String(id) }) }));
  renderList(
    writer,
    names,
    ({ id }) => String(id),
    ({ id, name }) => element("option", { value: id }, name),
  );
  showTopics(chat);
}

function showTopics(chat) {
  if (!chat.isForum) return;
  const topics = [{ threadId: 0, name: "General" }, ...chat.topics];
  const entries = [
    ...topics.map((topic) => ({ ...topic, isOpen: (page.open.threadId ?? 0) === topic.threadId })),
    { threadId: -1, name: "New topic", isOpen: false },
  ];
  renderList(
    byId("topics"),
    entries,
    ({ threadId }) => String(threadId),
    (topic) =>
      element(
        "button",
        {
          type: "button",
          class: topic.threadId === -1 ? "new-topic" : "",
          "aria-pressed": topic.threadId === -1 ? undefined : String(topic.isOpen),
          onclick: () => {
            if (topic.threadId === -1) askForTopic(chat.id, (threadId) => goTo(chat.id, threadId), onError);
            else goTo(chat.id, topic.threadId);
          },
        },
        topic.name,
      ),
  );
}

function emptyView() {
  return element(
    "div",
    { class: "empty" },
    element("p", {}, "No chats yet."),
    element(
      "button",
      { type: "button", class: "primary", onclick: () => byId("new-chat").click() },
      "Add a person",
    ),
  );
}

function openChatMenu() {
  const chat = openChat();
  if (chat === undefined) return;
  const entries =
    chat.type === "private"
      ? [
          chat.blocked
            ? {
                label: "Unblock the bot",
                run: () => void run("unblockBot", { userId: chat.id }).catch(onError),
              }
            : { label: "Block the bot", run: () => void run("blockBot", { userId: chat.id }).catch(onError) },
        ]
      : [
          chat.botStatus === "kicked"
            ? {
                label: "Add the bot back",
                run: () => void run("readmitBot", { chatId: chat.id }).catch(onError),
              }
            : { label: "Remove the bot", run: () => void run("kickBot", { chatId: chat.id }).catch(onError) },
        ];
  openMenu(byId("chat-menu-button"), entries, byId("chat-menu"));
}

function toggleInspector() {
  const isNarrow = matchMedia("(max-width: 1100px)").matches;
  if (isNarrow) {
    document.body.dataset.view = document.body.dataset.view === "inspector" ? "chat" : "inspector";
  } else {
    document.body.classList.toggle("without-inspector");
  }
  const isShown = isNarrow
    ? document.body.dataset.view === "inspector"
    : !document.body.classList.contains("without-inspector");
  byId("toggle-inspector").setAttribute("aria-expanded", String(isShown));
}

startDialogs({
  users: () => page.state.users,
  open: (chatId) => void openNew(chatId).catch(onError),
});
startInspector({ onSelect: showOpen, onError });
startComposer({
  target: () => {
    const chat = openChat();
    if (chat === undefined) return undefined;
    return {
      chatId: chat.id,
      userId: writerId(chat),
      ...(page.open.threadId && { threadId: page.open.threadId }),
    };
  },
  onError,
  onDraft: showChats,
});
byId("writer").addEventListener("change", showOpen);
addEventListener("hashchange", () => {
  const chatId = wantedChatId();
  // The link to the message field is in the address, too.
  if (chatId !== undefined) void openNew(chatId).catch(onError);
});
byId("back").addEventListener("click", () => {
  document.body.dataset.view = "chats";
  noteDraft();
  showChats();
});
byId("toggle-inspector").addEventListener("click", toggleInspector);
byId("close-inspector").addEventListener("click", toggleInspector);
byId("chat-menu-button").addEventListener("click", openChatMenu);
byId("banner-retry").addEventListener("click", () => void run("redeliverNow").catch(onError));
startMessagesPane();
startAlert();
startTypeAhead();
showOpen();
