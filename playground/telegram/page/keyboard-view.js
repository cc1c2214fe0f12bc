import { focusField } from "./composer.js";
import { element } from "./dom.js";

/**
 * Shows the buttons below a message. Their listeners use only their element and the message's number. A press with the
 * mouse leaves the keyboard to the message field.
 */
export function keyboardView({ message, waiting }, actions) {
  const buttonView = (button) => {
    if (button.url !== undefined) return linkView(button);
    if (button.copyText !== undefined) return copyView(button, actions);
    return element(
      "button",
      {
        type: "button",
        class: "inline-button",
        value: button.callbackData,
        "aria-busy": waiting.includes(button.callbackData) ? "true" : undefined,
        onclick: ({ currentTarget }) => actions.press(message.id, currentTarget.value),
      },
      button.text,
    );
  };
  const rows = message.buttons.map((row) => element("div", { class: "button-row" }, ...row.map(buttonView)));
  const onclick = ({ detail }) => {
    if (detail > 0) focusField();
  };
  return element("div", { class: "keyboard", role: "group", "aria-label": "Buttons", onclick }, ...rows);
}

function linkView({ text, url }) {
  const isSafe = /^(?:https?|tg):/i.test(url);
  return element(
    "a",
    {
      class: "inline-button",
      href: isSafe ? url : undefined,
      target: "_blank",
      rel: "noopener noreferrer",
    },
    text,
    element("span", { class: "button-sign", "aria-hidden": "true" }, "↗"),
  );
}

function copyView({ text, copyText }, actions) {
  return element(
    "button",
    {
      type: "button",
      class: "inline-button",
      value: copyText,
      onclick: ({ currentTarget }) => actions.copy(currentTarget.value),
    },
    text,
    element("span", { class: "button-sign copy", "aria-hidden": "true" }),
  );
}

/**
 * Keeps the keyboard focus in a message whose buttons have changed. A pressed button may be gone afterwards. If all are
 * gone, the field gets the focus.
 *
 * @param {HTMLElement} message
 * @param {() => HTMLElement} change changes the message
 */
export function keepFocus(message, change) {
  const before = [...message.querySelectorAll(".inline-button")].indexOf(document.activeElement);
  const changed = change();
  if (before === -1 || changed.contains(document.activeElement)) return changed;
  const buttons = changed.querySelectorAll(".inline-button");
  if (buttons.length === 0) focusField();
  else buttons[Math.min(before, buttons.length - 1)].focus({ preventScroll: true });
  return changed;
}
