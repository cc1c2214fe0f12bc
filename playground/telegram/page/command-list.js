import { byId, element } from "./dom.js";

/** The bot's commands in the open chat, and the text that a client adds to a command: the bot's name in groups. */
let commands = [];
let suffix = "";
/** Commands that match the typed text, and the active one of them. */
let offered = [];
let activeIndex = 0;
let isDismissed = false;
let onChoose = () => undefined;

/**
 * Sets up the list above the message field. The field keeps the focus and names the active entry
 * (`aria-activedescendant`).
 *
 * @param {(text: string) => void} send sends a chosen command
 */
export function startCommandList(send) {
  onChoose = send;
  byId("message-input").addEventListener("input", () => {
    isDismissed = false;
    offerCommands();
  });
}

/** @param {readonly { command: string, description: string }[]} list @param {string} botName "@name" in groups, else empty */
export function setCommands(list, botName) {
  if (JSON.stringify([list, botName]) === JSON.stringify([commands, suffix])) return;
  commands = list;
  suffix = botName;
  offerCommands();
}

/** Shows the commands that match the text of the field. */
export function offerCommands() {
  const typed = byId("message-input").value.toLowerCase();
  const isCommand = /^\/\w*(?:@\w*)?$/.test(typed) && !isDismissed;
  offered = isCommand ? commands.filter((entry) => textOf(entry).toLowerCase().startsWith(typed)) : [];
  const exact = offered.findIndex(({ command }) => `/${command}` === typed);
  byId("commands").hidden = offered.length === 0;
  byId("commands").replaceChildren(...offered.map(optionView));
  activate(Math.max(0, exact));
}

/**
 * Handles a key: arrows move, Enter sends, Tab completes (so that arguments can follow), Escape closes.
 *
 * @param {KeyboardEvent} event of the message field
 * @returns {boolean} whether the list has used the key
 */
export function handleCommandKey(event) {
  const hasModifier = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
  if (offered.length === 0 || event.isComposing || hasModifier) return false;
  const entry = offered[activeIndex];
  const act = {
    ArrowDown: () => activate((activeIndex + 1) % offered.length),
    ArrowUp: () => activate((activeIndex - 1 + offered.length) % offered.length),
    Enter: () => onChoose(textOf(entry)),
    Tab: () => complete(entry),
    Escape: () => {
      isDismissed = true;
      offerCommands();
    },
  }[event.key];
  if (act === undefined) return false;
  event.preventDefault();
  act();
  return true;
}

function textOf({ command }) {
  return `/${command}${suffix}`;
}

function complete(entry) {
  const input = byId("message-input");
  input.value = `${textOf(entry)} `;
  input.dispatchEvent(new Event("input"));
}

function activate(index) {
  activeIndex = index;
  const input = byId("message-input");
  const options = [...byId("commands").children];
  for (const [at, option] of options.entries()) option.setAttribute("aria-selected", String(at === index));
  const active = options[index];
  if (active === undefined) input.removeAttribute("aria-activedescendant");
  else {
    input.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({ block: "nearest" });
  }
}

function optionView(entry) {
  return element(
    "div",
    {
      id: `command-${entry.command}`,
      role: "option",
      // The field keeps the focus.
      onmousedown: (event) => event.preventDefault(),
      onclick: () => onChoose(textOf(entry)),
    },
    element("strong", {}, `/${entry.command}`),
    element("span", {}, entry.description),
  );
}
