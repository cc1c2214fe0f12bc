import { listen, read, run } from "./api.js";
import { cancelContext, edit, replyTo, setCommands, startComposer } from "./composer.js";
import { alertDialog, askForTopic, openMenu, startDialogs, toast } from "./dialogs.js";
import { avatar, byId, clockTime, element, paintAvatar, renderList } from "./dom.js";
import { refreshInspector, showFaults, startInspector } from "./inspector.js";
import { draftView, messageView, typingView } from "./message-view.js";

/** What the simulator said last, and what is open. */
let state = { users: [], chats: [], faults: [], webhook: {}, bot: {}, commands: [] };
let open = { chatId: undefined, threadId: undefined };
const seenAnswers = new Set();
let isFirstView = true;
let isLost = false;

const onError = (error) => toast(error.message, "bad");
const nameOf = (user) => [user.first_name, user.last_name].filter(Boolean).join(" ");
const userOf = (id) => (id === state.bot.id ? state.bot : state.users.find((user) => user.id === id));
const openChat = () => state.chats.find((chat) => chat.id === open.chatId);
const titleOf = (chat) => chat.title ?? nameOf(userOf(chat.id) ?? { first_name: "Unknown" });

/** Reads everything that shows. Changes that come meanwhile lead to one more round, not to many. */
let isReading = false;
let isStale = false;
let expiry;

async function refresh() {
  if (isReading) {
    isStale = true;
    return;
  }
  isReading = true;
  try {
    do {
      isStale = false;
      await readAll();
    } while (isStale);
  } catch (error) {
    if (!isLost) onError(error);
  } finally {
    isReading = false;
  }
}

async function readAll() {
  state = await read("state");
  if (openChat() === undefined) chooseFirstChat();
  setCommands(state.commands);
  showBanner();
  showChats();
  showHeader();
  showFaults(state.faults, onError);
  const chat = openChat();
  if (chat === undefined) byId("messages").replaceChildren(emptyView());
  else {
    const { chatId, threadId } = open;
    const view = await read("messages", { chatId, ...(threadId !== undefined && { threadId }) });
    if (chatId === open.chatId && threadId === open.threadId) showMessages(chat, view);
    else isStale = true;
  }
  await refreshInspector();
}

function chooseFirstChat() {
  const wanted = Number(location.hash.slice(1));
  const chat = state.chats.find(({ id }) => id === wanted) ?? state.chats[0];
  open = { chatId: chat?.id, threadId: chat?.isForum ? 0 : undefined };
}

function goTo(chatId, threadId) {
  const chat = state.chats.find(({ id }) => id === chatId);
  open = { chatId, threadId: threadId ?? (chat?.isForum ? 0 : undefined) };
  history.replaceState(null, "", `#${chatId}`);
  isFirstView = true;
  cancelContext();
  document.body.dataset.view = "chat";
  void refresh();
}

function showBanner() {
  const { url, problem, pending } = state.webhook;
  const waiting = pending === 1 ? "1 update waits" : `${pending} updates wait`;
  let text = "";
  if (isLost) text = "The simulator cannot be reached. This page goes on as soon as it is back.";
  else if (url === undefined)
    text = "No bot is connected yet: nobody has set a webhook. What you write waits until then.";
  else if (problem !== undefined) {
    text = `The bot cannot be reached at ${url} (${problem}). ${waiting} and will be delivered when it answers.`;
  }
  byId("banner").hidden = text === "";
  byId("banner-retry").hidden = isLost || problem === undefined;
  if (byId("banner-text").textContent !== text) byId("banner-text").textContent = text;
}

function showChats() {
  const items = state.chats
    .toSorted((left, right) => (right.last?.date ?? 0) - (left.last?.date ?? 0))
    .map((chat) => ({
      id: chat.id,
      title: titleOf(chat),
      preview: chat.action === undefined ? (chat.last?.text ?? "") : "typing…",
      isOwn: chat.last !== undefined && chat.last.fromId === chat.id,
      time: chat.last === undefined ? "" : clockTime(chat.last.date),
      isOpen: chat.id === open.chatId,
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
            element("span", { class: "chat-preview" }, item.preview || "No messages yet"),
          ),
        ),
      ),
  );
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
  const title = isPrivate ? nameOf(state.bot) : titleOf(chat);
  paintAvatar(byId("chat-avatar"), title, isPrivate ? state.bot.id : chat.id);
  byId("chat-title").textContent = title;
  const members = chat.members.length === 1 ? "1 person" : `${chat.members.length} people`;
  const notes = [
    isPrivate ? `as ${titleOf(chat)}` : `${chat.type}, ${members} and the bot`,
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
    ...topics.map((topic) => ({ ...topic, isOpen: (open.threadId ?? 0) === topic.threadId })),
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

function writerId(chat) {
  return chat.type === "private" ? chat.id : Number(byId("writer").value || chat.members[0]);
}

function showMessages(chat, view) {
  const list = byId("messages");
  const distance = list.scrollHeight - list.scrollTop - list.clientHeight;
  const isAtEnd = isFirstView || distance < 80;
  list.querySelector(".empty")?.remove();
  const me = writerId(chat);
  const byMessageId = new Map(view.messages.map((message) => [message.id, message]));
  const waiting = view.callbackAnswers.filter(
    (answer) => answer.answeredAt === undefined && Date.now() - answer.pressedAt < 15_000,
  );
  const items = view.messages.map((message, index) => {
    const before = view.messages[index - 1];
    const replied = message.replyToId === undefined ? undefined : byMessageId.get(message.replyToId);
    return {
      key: `m${message.id}`,
      message,
      isOwn: message.from.id === me,
      isGroup: chat.type !== "private",
      startsRun: before === undefined || before.from.id !== message.from.id || before.service !== undefined,
      replied: replied && { id: replied.id, name: replied.from.name, text: replied.text.slice(0, 120) },
      waiting:
        waiting.filter((answer) => answer.messageId === message.id).length > 0
          ? message.buttons.flat().map((button) => button.callbackData)
          : [],
      serviceText: serviceText(message),
    };
  });
  const botName = nameOf(state.bot);
  if (view.draft !== undefined) items.push({ key: "draft", draft: view.draft });
  else if (view.typing !== undefined) items.push({ key: "typing", typing: view.typing });
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
  );
  if (items.length === 0)
    list.append(element("p", { class: "empty" }, "No messages here yet. Write the first one."));
  if (isAtEnd) list.scrollTop = list.scrollHeight;
  isFirstView = false;
  showToEnd();
  for (const image of list.querySelectorAll("img.photo:not([data-watched])")) watchImage(image, list);
  showAnswers(view.callbackAnswers);
  // Typing and drafts end by themselves, without an event.
  clearTimeout(expiry);
  if (view.typing !== undefined || view.draft !== undefined || waiting.length > 0)
    expiry = setTimeout(() => void refresh(), 1000);
}

/** A picture that loads late must not push the newest message out of sight. */
function watchImage(image, list) {
  image.dataset.watched = "";
  image.addEventListener("load", () => {
    if (list.scrollHeight - list.scrollTop - list.clientHeight < image.clientHeight + 120)
      list.scrollTop = list.scrollHeight;
  });
}

/** Whether the newest message is in sight, as of the last scroll. */
let isEndInSight = true;

function showToEnd() {
  const list = byId("messages");
  const distance = list.scrollHeight - list.scrollTop - list.clientHeight;
  isEndInSight = distance < 80;
  byId("to-end").hidden = distance < 200;
}

const messageActions = {
  press: (message, button) => {
    const chat = openChat();
    if (chat === undefined) return;
    run("pressButton", {
      chatId: chat.id,
      userId: writerId(chat),
      messageId: message.id,
      data: button.callbackData,
    }).catch(onError);
  },
  show: (messageId) => {
    const node = byId("messages").querySelector(`[data-message-id="${messageId}"]`);
    node?.scrollIntoView({ block: "center", behavior: "smooth" });
    node?.classList.add("flash");
    setTimeout(() => node?.classList.remove("flash"), 1500);
  },
  menu: (message, anchor) => {
    const chat = openChat();
    if (chat === undefined) return;
    const userId = writerId(chat);
    const place = { chatId: chat.id, userId, messageId: message.id };
    const isOwn = message.from.id === userId;
    openMenu(anchor, [
      { label: "Reply", run: () => replyTo(message) },
      ...(isOwn && message.attachments.length === 0 ? [{ label: "Edit", run: () => edit(message) }] : []),
      { label: "Copy text", run: () => void navigator.clipboard.writeText(message.text).catch(onError) },
      { label: "React with 👍", run: () => void run("react", { ...place, emoji: "👍" }).catch(onError) },
      { label: "Pin", run: () => void run("pin", place).catch(onError) },
      { label: "Delete", run: () => void run("deleteMessage", place).catch(onError) },
    ]);
  },
};

/** What the bot says to a press: a notice, or a dialog when it asks for one. Old answers are not shown again. */
function showAnswers(answers) {
  for (const answer of answers) {
    if (answer.answeredAt === undefined || seenAnswers.has(answer.queryId)) continue;
    seenAnswers.add(answer.queryId);
    if (answer.text === undefined || Date.now() - answer.answeredAt > 10_000) continue;
    if (answer.showAlert) alertDialog(answer.text);
    else toast(answer.text);
  }
}

function serviceText(message) {
  const name = message.from.name;
  switch (message.service) {
    case undefined:
      return undefined;
    case "pinned_message":
      return `${name} pinned a message`;
    case "new_chat_members":
      return `${name} joined, or brought somebody along`;
    case "left_chat_member":
      return `${name} left`;
    case "new_chat_title":
      return `${name} changed the title`;
    case "forum_topic_created":
      return `${name} opened this topic`;
    default:
      return message.service.replaceAll("_", " ");
  }
}

function emptyView() {
  return element(
    "div",
    { class: "empty" },
    element("p", {}, "There is nobody here yet."),
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
                label: "Take the bot back in",
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
  users: () => state.users,
  open: (chatId) => void refresh().then(() => goTo(chatId)),
});
startInspector(onError);
startComposer(() => {
  const chat = openChat();
  if (chat === undefined) return undefined;
  return { chatId: chat.id, userId: writerId(chat), ...(open.threadId && { threadId: open.threadId }) };
}, onError);
byId("writer").addEventListener("change", () => void refresh());
byId("back").addEventListener("click", () => {
  document.body.dataset.view = "chats";
});
byId("toggle-inspector").addEventListener("click", toggleInspector);
byId("close-inspector").addEventListener("click", toggleInspector);
byId("chat-menu-button").addEventListener("click", openChatMenu);
byId("banner-retry").addEventListener("click", () => void run("redeliverNow").catch(onError));
byId("messages").addEventListener("scroll", showToEnd, { passive: true });
byId("to-end").addEventListener("click", () => {
  byId("messages").scrollTop = byId("messages").scrollHeight;
});
new ResizeObserver(() => {
  if (isEndInSight) byId("messages").scrollTop = byId("messages").scrollHeight;
}).observe(byId("messages"));
listen(
  () => void refresh(),
  (lost) => {
    isLost = lost;
    showBanner();
    if (!lost) void refresh();
  },
);
void refresh();
