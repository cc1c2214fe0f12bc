import { byId } from "./dom.js";

/** Whether an element takes the keys that a person types. */
export function isWritable(node) {
  return node?.matches("input, textarea, select, [contenteditable]") === true;
}

/**
 * Moves the focus to the message field as soon as a person types a letter elsewhere, as Telegram's clients do. The
 * letter arrives in the field. A space still presses the button that has the focus.
 */
export function startTypeAhead() {
  document.addEventListener("keydown", (event) => {
    const { altKey, ctrlKey, key, metaKey, target } = event;
    const isLetter = [...key].length === 1 && key !== " " && !altKey && !ctrlKey && !metaKey;
    if (!isLetter || isWritable(target) || !byId("composer").checkVisibility()) return;
    if (document.querySelector("dialog[open], .menu:popover-open") === null) byId("message-input").focus();
  });
}
