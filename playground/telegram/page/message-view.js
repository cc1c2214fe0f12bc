import { avatar, clockTime, element } from "./dom.js";
import { richBlocks } from "./rich-blocks.js";
import { richText } from "./rich-text.js";

/**
 * Shows one message. Listeners may use only attributes of their element and the message's number: see `updateInPlace`.
 *
 * @param {any} item `message`, `versions` (number of versions so far), `isOwn`, `isGroup`, `isStreaming`, `startsRun`
 * (the message before has another author), `replied`, `waiting` (data of buttons whose press is unanswered)
 * @param {any} actions `press(messageId, data)`, `menu(messageId, anchor)`, `show(messageId)`
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
  for (const attachment of message.attachments) bubble.append(attachmentView(attachment));
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
  const counts = new Map();
  for (const { emoji } of reactions) counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
  return element(
    "span",
    { class: "reactions", "aria-label": "Reactions" },
    ...[...counts].map(([emoji, count]) => element("span", {}, count > 1 ? `${emoji} ${count}` : emoji)),
  );
}

function keyboardView({ message, waiting }, actions) {
  const rows = message.buttons.map((row) =>
    element(
      "div",
      { class: "button-row" },
      ...row.map((button) => {
        if (button.url !== undefined) {
          const isSafe = /^(?:https?|tg):/i.test(button.url);
          return element(
            "a",
            {
              class: "inline-button",
              href: isSafe ? button.url : undefined,
              target: "_blank",
              rel: "noopener noreferrer",
            },
            button.text,
          );
        }
        if (button.copyText !== undefined) {
          return element(
            "button",
            {
              type: "button",
              class: "inline-button",
              title: "Copy the text",
              value: button.copyText,
              onclick: ({ currentTarget }) => void navigator.clipboard.writeText(currentTarget.value),
            },
            button.text,
          );
        }
        const isWaiting = waiting.includes(button.callbackData);
        return element(
          "button",
          {
            type: "button",
            class: "inline-button",
            value: button.callbackData,
            "aria-busy": isWaiting ? "true" : undefined,
            onclick: ({ currentTarget }) => actions.press(message.id, currentTarget.value),
          },
          button.text,
        );
      }),
    ),
  );
  return element("div", { class: "keyboard", role: "group", "aria-label": "Buttons" }, ...rows);
}

function attachmentView({ kind, fileId, fileName, mimeType, sizeBytes }) {
  const source = `/_sim/files/${encodeURIComponent(fileId)}`;
  if (kind === "photo") return element("img", { class: "photo", src: source, alt: "Photo" });
  if (kind === "voice" || kind === "audio")
    return element("audio", { controls: true, src: source, "aria-label": fileName ?? "Voice message" });
  if (kind === "animation" && mimeType === "image/gif")
    return element("img", { class: "photo", src: source, alt: fileName ?? "Animation" });
  if (kind === "animation") {
    const video = element("video", { src: source, "aria-label": fileName ?? "Animation" });
    Object.assign(video, { autoplay: true, loop: true, muted: true });
    return video;
  }
  if (kind === "video")
    return element("video", { controls: true, src: source, "aria-label": fileName ?? "Video" });
  const name = fileName ?? "file";
  return element(
    "a",
    { class: "document", href: source, download: name },
    element(
      "span",
      { class: "document-icon", "aria-hidden": "true" },
      (name.split(".").at(-1) ?? "").slice(0, 4),
    ),
    element(
      "span",
      { class: "document-text" },
      element("strong", {}, name),
      element("span", {}, `${sizeText(sizeBytes)}, ${mimeType}`),
    ),
  );
}

/** A place, with a link to a map. */
function locationView({ address, latitude, longitude, title }) {
  const place = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  return element(
    "a",
    {
      class: "document location",
      href: `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`,
      target: "_blank",
      rel: "noopener noreferrer",
    },
    element("span", { class: "document-icon", "aria-hidden": "true" }, "📍"),
    element(
      "span",
      { class: "document-text" },
      element("strong", {}, title ?? "Location"),
      element("span", {}, address ?? place),
    ),
  );
}

function sizeText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
