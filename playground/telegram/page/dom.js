/**
 * Makes an element. Text only ever becomes text nodes: nothing that people or the bot write is read as HTML.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `class`, `on<event>` functions, attributes; undefined and false are left out
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

/**
 * Brings the children of `parent` into the order of `items`. A child is made anew only when its item changed,
 * so that focus, selection and scroll position survive.
 *
 * @param {HTMLElement} parent
 * @param {readonly any[]} items
 * @param {(item: any) => string} keyOf
 * @param {(item: any) => HTMLElement} render
 */
export function renderList(parent, items, keyOf, render) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const content = JSON.stringify(item);
    const old = before.get(key);
    before.delete(key);
    if (old !== undefined && old.dataset.content === content) {
      if (old === next) next = next.nextElementSibling;
      else parent.insertBefore(old, next);
      continue;
    }
    const made = render(item);
    made.dataset.key = key;
    made.dataset.content = content;
    if (old === undefined) parent.insertBefore(made, next);
    else {
      if (old === next) next = next.nextElementSibling;
      const focused = old.contains(document.activeElement) ? document.activeElement.textContent : undefined;
      const wasOpen = old.querySelector("details")?.open ?? false;
      old.replaceWith(made);
      const details = made.querySelector("details");
      if (details !== null) details.open = wasOpen;
      if (focused !== undefined) {
        [...made.querySelectorAll("button, summary")].find((one) => one.textContent === focused)?.focus();
      }
    }
  }
  for (const gone of before.values()) gone.remove();
}

const colors = 7;

/** A name's initials on one of a few colors, which is always the same for one id. */
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

/** @param {number} seconds since 1970 */
export function clockTime(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
