/**
 * Changes `old` so that it looks like `made`, and keeps every node that stays. A growing message is then one node for a
 * screen reader, and only its new text is an addition. `made` cannot be used afterwards.
 *
 * A node that looks the same keeps its listeners. A listener may therefore use only attributes of its element, and
 * values that are constant for the life of the message. A pressed spoiler or quote is kept as long as its text stays.
 *
 * @template {Element} Kind
 * @param {Kind} old
 * @param {Element} made
 * @returns {Kind} `old`
 */
export function updateInPlace(old, made) {
  updateAttributes(old, made);
  const after = [...made.childNodes];
  for (const [index, node] of after.entries()) {
    const present = old.childNodes[index];
    if (present === undefined) old.append(node);
    else if (isSame(present, node)) continue;
    else if (present.nodeType === Node.TEXT_NODE && node.nodeType === Node.TEXT_NODE)
      updateText(present, node.data);
    else if (canBecome(present, node)) updateInPlace(present, node);
    else present.replaceWith(node);
  }
  while (old.childNodes.length > after.length) old.lastChild.remove();
  return old;
}

/** Elements that a person has opened. They look different from the new ones, and mean the same. */
const pressed = ".spoiler.revealed, .expandable.expanded";

function isSame(present, node) {
  if (present.isEqualNode(node)) return true;
  if (present.nodeType !== Node.ELEMENT_NODE || !present.matches(pressed)) return false;
  return present.nodeName === node.nodeName && present.innerHTML === node.innerHTML;
}

/** False for an interactive element, which is replaced as a whole: its listener belongs to its old content. */
function canBecome(present, node) {
  const isPlain = (one) => one.nodeType === Node.ELEMENT_NODE && !one.matches("button, a, [role=button]");
  return present.nodeName === node.nodeName && isPlain(present) && isPlain(node);
}

function updateText(present, text) {
  if (text.startsWith(present.data)) present.appendData(text.slice(present.length));
  else present.data = text;
}

function updateAttributes(old, made) {
  const names = new Set([...old.getAttributeNames(), ...made.getAttributeNames()]);
  for (const name of names) {
    const value = made.getAttribute(name);
    // A person opens and closes `details`. Notes in `data-…` belong to the node.
    if (name === "open" || (value === null && name.startsWith("data-"))) continue;
    if (value === null) old.removeAttribute(name);
    else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}
