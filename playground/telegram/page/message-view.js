import { attachmentsView, locationView } from "./attachment-view.js";
import { avatar, clockTime, element } from "./dom.js";
import { keyboardView } from "./keyboard-view.js";
import { richBlocks } from "./rich-blocks.js";
import { richText } from "./rich-text.js";

/**
 * Shows one message. Listeners may use only attributes of their element and the message's number: see `updateInPlace`.
 *
 * @param {any} item `message`, `versions` (number of versions so far), `isOwn`, `isGroup`, `isStreaming`, `startsRun`
 * (the message before has another author), `replied`, `waiting` (data of buttons whose press is unanswered)
 * @param {any} actions `press(messageId, data)`, `copy(text)`, `menu(messageId, anchor)`, `show(messageId)`
 */
export function messageView(item, actions) {
  const { message, isOwn, isGroup, isStreaming, startsRun, replied, versions } = item;
  if (message.service !== undefined) return serviceView(message);
  const hasMedia = message.attachments.length > 0 || message.location !== undefined;
  const bubble = element("div", { class: `bubble${hasMedia ? " with-media" : ""}` });
  if (isGroup && !isOwn && startsRun) {
    bubble.append(
      element("span", { class: `sender name-${Math.abs(message.from.id) % 7}` }, message.from.name),
    );
  }
  if (replied !== undefined) {
    bubble.append(
      element(
        "button",
        {
          type: "button",
          class: "replied",
          value: replied.id,
          onclick: ({ currentTarget }) => actions.show(Number(currentTarget.value)),
        },
        element("strong", {}, replied.name),
        element("span", {}, replied.text || "Attachment"),
      ),
    );
  }
  if (message.attachments.length > 0) bubble.append(attachmentsView(message.attachments));
  if (message.location !== undefined) bubble.append(locationView(message.location));
  if (message.rich !== undefined || message.text !== "") bubble.append(contentView(message));
  bubble.append(metaView(message, versions, isOwn));
  if (message.reactions.length > 0) bubble.append(reactionsView(message.reactions));

  const article = element("article", {
    class: `message ${isOwn ? "own" : "theirs"}${startsRun ? " starts-run" : ""}`,
    "aria-label": `${message.from.name}, ${clockTime(message.date)}`,
    "aria-busy": isStreaming ? "true" : undefined,
    "data-message-id": message.id,
  });
  const column = element("div", { class: "bubble-column" }, bubble);
  if (message.buttons.length > 0) column.append(keyboardView(item, actions));
  const menu = element(
    "button",
    {
      type: "button",
      class: "icon message-menu-button",
      "aria-label": "Message actions",
      "aria-haspopup": "menu",
    },
    "⋯",
  );
  menu.addEventListener("click", () => actions.menu(message.id, menu));
  if (isGroup && !isOwn)
    article.append(
      startsRun ? avatar(message.from.name, message.from.id) : element("span", { class: "avatar-gap" }),
    );
  article.append(column, menu);
  return article;
}

function contentView({ text, entities, rich }) {
  if (rich !== undefined) return richBlocks(rich);
  return element("div", { class: "text", dir: "auto" }, richText(text, entities));
}

/** Shows a draft of the bot: a preview of a message that is not sent yet. */
export function draftView(draft, botName, onStop) {
  const text =
    draft.text === "" ? element("div", { class: "text thinking" }, "Thinking…") : contentView(draft);
  const stop = draft.canStop
    ? element("button", { type: "button", class: "quiet stop", onclick: onStop }, "Stop")
    : undefined;
  return element(
    "article",
    {
      class: "message theirs starts-run draft",
      "aria-label": `${botName} is writing`,
      "aria-busy": "true",
    },
    element(
      "div",
      { class: "bubble-column" },
      element("div", { class: "bubble" }, text, element("span", { class: "meta" }, "draft")),
      stop,
    ),
  );
}

export function typingView(name, action) {
  const what = action === "typing" ? "is typing" : `is busy (${action.replaceAll("_", " ")})`;
  return element(
    "div",
    { class: "typing" },
    element("span", { class: "dots", "aria-hidden": "true" }, element("i"), element("i"), element("i")),
    element("span", { class: "hidden" }, `${name} ${what}`),
  );
}

function serviceView({ id, serviceText }) {
  return element("div", { class: "service", "data-message-id": id }, element("span", {}, serviceText));
}

function metaView(message, versions, isOwn) {
  const edited = message.editDate !== undefined ? "edited " : "";
  return element(
    "span",
    { class: "meta", title: `Message ${message.id}, ${versions} ${versions === 1 ? "version" : "versions"}` },
    message.pinned ? "pinned " : "",
    message.silent ? "silent " : "",
    message.isProtected ? "protected " : "",
    edited,
    element("time", { datetime: new Date(message.date * 1000).toISOString() }, clockTime(message.date)),
    isOwn ? element("span", { class: "sent", "aria-label": "sent" }, " ✓") : undefined,
  );
}

function reactionsView(reactions) {
  const names = new Map();
  for (const { emoji, name } of reactions) names.set(emoji, [...(names.get(emoji) ?? []), name]);
  return element(
    "span",
    { class: "reactions", role: "group", "aria-label": "Reactions" },
    ...[...names].map(([emoji, from]) =>
      element(
        "span",
        { title: from.join(", ") },
        from.length > 1 ? `${emoji} ${from.length}` : emoji,
        element("span", { class: "hidden" }, ` ${from.join(", ")}`),
      ),
    ),
  );
}
