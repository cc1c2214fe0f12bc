import { byId } from "./dom.js";

/**
 * Shows the newest pinned message above the conversation.
 *
 * @param {readonly any[]} messages of the open chat, oldest first
 */
export function showPinned(messages) {
  const pinned = messages.filter((message) => message.pinned);
  const newest = pinned.at(-1);
  const bar = byId("pinned");
  bar.hidden = newest === undefined;
  if (newest === undefined) return;
  bar.value = newest.id;
  byId("pinned-title").textContent =
    pinned.length === 1 ? "Pinned message" : `${pinned.length} pinned messages`;
  byId("pinned-text").textContent = newest.text.slice(0, 200) || "Attachment";
}

/** @param {(messageId: number) => void} show */
export function startPinnedBar(show) {
  byId("pinned").addEventListener("click", () => show(Number(byId("pinned").value)));
}
