import { focusField } from "./composer.js";
import { byId } from "./dom.js";
import { isWritable } from "./type-ahead.js";

/** The element that had the focus before the dialog took it. */
let focusedBefore;

/** Sets up the dialog that shows a bot's answer to a press. */
export function startAlert() {
  byId("alert-close").addEventListener("click", close);
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !isOpen()) return;
      // The key closes nothing else, such as the reply that is being written.
      event.preventDefault();
      event.stopPropagation();
      close();
    },
    { capture: true },
  );
}

/** Shows a text until the person closes it. Keys of a person who may be typing still arrive in the field. */
export function showAlert(text) {
  byId("alert-text").textContent = text;
  if (isOpen()) return;
  focusedBefore = document.activeElement;
  byId("alert").showPopover();
  if (!isWritable(focusedBefore)) byId("alert-close").focus();
}

function isOpen() {
  return byId("alert").matches(":popover-open");
}

function close() {
  const hadFocus = byId("alert").contains(document.activeElement);
  byId("alert").hidePopover();
  if (!hadFocus) return;
  if (focusedBefore?.isConnected === true && focusedBefore !== document.body) focusedBefore.focus();
  else focusField();
}
