/**
 * Creates an element. Text only becomes text nodes, so nothing that people or the bot write is read as HTML.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `class`, `on<event>` functions, attributes; undefined and false are
 * left out
 * @param {...(Node | string | undefined)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  const node = document.getElementById(id);
  if (node === null) throw new Error(`The page has no element "${id}".`);
  return node;
}

/** The item that each child of a list shows, as JSON. @type {WeakMap<Element, string>} */
const contents = new WeakMap();

/**
 * Shows `items` as the children of `parent`. Focus, selection and scroll position survive: a child is created again
 * only if its item has changed, and moved only if its position has changed.
 *
 * @param {HTMLElement} parent
 * @param {readonly any[]} items
 * @param {(item: any) => string} keyOf
 * @param {(item: any) => HTMLElement} render
 * @param {(old: any, made: HTMLElement) => HTMLElement} [update] returns the child that shows a changed item
 */
export function renderList(parent, items, keyOf, render, update = replace) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const kept = new Set(items.map(keyOf));
  for (const [key, child] of before) if (!kept.has(key)) child.remove();
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const content = JSON.stringify(item);
    const old = before.get(key);
    let child = old;
    if (old === undefined || contents.get(old) !== content) {
      const made = render(item);
      child = old === undefined ? made : update(old, made);
      if (old === next) next = child;
    }
    child.dataset.key = key;
    contents.set(child, content);
    if (child === next) next = next.nextElementSibling;
    else move(parent, child, next);
  }
}

/** Moves a child and keeps the focus, which a moved element would lose. */
function move(parent, child, next) {
  const focused = child.contains(document.activeElement) ? document.activeElement : undefined;
  parent.insertBefore(child, next);
  focused?.focus({ preventScroll: true });
}

/** Replaces `old` by `made`. A focused button and an open `details` stay as they are. */
function replace(old, made) {
  const focused = old.contains(document.activeElement) ? document.activeElement.textContent : undefined;
  const wasOpen = old.querySelector("details")?.open ?? false;
  old.replaceWith(made);
  const details = made.querySelector("details");
  if (details !== null) details.open = wasOpen;
  if (focused !== undefined) {
    const buttons = [...made.querySelectorAll("button, summary")];
    const same = buttons.find((one) => one.textContent === focused) ?? (buttons.length === 1 && buttons[0]);
    if (same) same.focus({ preventScroll: true });
  }
  return made;
}

const colors = 7;

/** Shows a name's initials on a color that depends on the id only. */
export function paintAvatar(node, name, id) {
  const words = name.split(/\s+/).filter(Boolean);
  node.textContent = words
    .slice(0, 2)
    .map((word) => [...word][0])
    .join("")
    .toUpperCase();
  node.className = `avatar color-${Math.abs(id) % colors}`;
}

export function avatar(name, id) {
  const node = element("span", { "aria-hidden": "true" });
  paintAvatar(node, name, id);
  return node;
}

/** @param {number} seconds since 1970 @param {"with seconds"} [precision] */
export function clockTime(seconds, precision) {
  const second = precision === "with seconds" ? "2-digit" : undefined;
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "numeric", minute: "2-digit", second });
}
