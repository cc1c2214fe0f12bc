import { element } from "./dom.js";

/**
 * Shows a text with its entities, nested as they are.
 *
 * @param {string} text
 * @param {readonly any[]} entities sorted by offset, longer ones first; none cuts another
 * @returns {DocumentFragment}
 */
export function richText(text, entities) {
  const root = document.createDocumentFragment();
  const stack = [{ node: root, end: text.length }];
  let at = 0;
  const emit = (to) => {
    if (to > at) appendText(stack.at(-1).node, text.slice(at, to), isBlockEnd(at), isBlockStart(to));
    at = Math.max(at, to);
  };
  const blocks = entities.filter((entity) => blockTypes.has(entity.type));
  const isBlockStart = (offset) => blocks.some((block) => block.offset === offset);
  const isBlockEnd = (offset) => blocks.some((block) => block.offset + block.length === offset);
  const closeUpTo = (offset) => {
    while (stack.length > 1 && stack.at(-1).end <= offset) {
      emit(stack.at(-1).end);
      stack.pop();
    }
  };
  for (const entity of entities) {
    closeUpTo(entity.offset);
    emit(entity.offset);
    const { outer, inner } = shape(entity, text.slice(entity.offset, entity.offset + entity.length));
    stack.at(-1).node.append(outer);
    stack.push({ node: inner, end: Math.min(entity.offset + entity.length, stack.at(-1).end) });
  }
  closeUpTo(text.length);
  emit(text.length);
  return root;
}

const blockTypes = new Set(["pre", "blockquote", "expandable_blockquote"]);

/** Adds text beside a block. The block itself breaks the line, so the line break stays in the text and is hidden. */
function appendText(node, text, isAfterBlock, isBeforeBlock) {
  const hasFirst = isAfterBlock && text.startsWith("\n");
  const hasLast = isBeforeBlock && text.endsWith("\n") && (text.length > 1 || !hasFirst);
  if (hasFirst) node.append(element("span", { hidden: true }, "\n"));
  node.append(text.slice(hasFirst ? 1 : 0, hasLast ? -1 : undefined));
  if (hasLast) node.append(element("span", { hidden: true }, "\n"));
}

const simple = {
  bold: "strong",
  italic: "em",
  underline: "u",
  strikethrough: "s",
  code: "code",
  blockquote: "blockquote",
};

function shape(entity, content) {
  const plain = (node) => ({ outer: node, inner: node });
  if (entity.type in simple) return plain(element(simple[entity.type]));
  switch (entity.type) {
    case "pre": {
      const code = element("code");
      const label =
        entity.language === undefined ? undefined : element("span", { class: "language" }, entity.language);
      return { outer: element("pre", {}, label, code), inner: code };
    }
    case "expandable_blockquote": {
      const quote = element("blockquote", { class: "expandable" });
      const toggle = () => quote.classList.toggle("expanded");
      makeButton(quote, "Quote; press to expand", toggle);
      return plain(quote);
    }
    case "spoiler": {
      const spoiler = element("span", { class: "spoiler" });
      makeButton(spoiler, "Hidden text; press to show", () => {
        spoiler.classList.add("revealed");
        for (const name of ["role", "tabindex", "aria-label"]) spoiler.removeAttribute(name);
      });
      return plain(spoiler);
    }
    case "text_link":
      return plain(link(entity.url));
    case "url":
      return plain(link(/^[a-z]+:/i.test(content) ? content : `http://${content}`));
    case "email":
      return plain(link(`mailto:${content}`));
    default:
      return plain(element("span", { class: `entity ${entity.type}` }));
  }
}

/** Creates a link. An address that could run code is shown, but the link has no target. */
export function link(address) {
  const isSafe = /^(?:https?|mailto|tg|ton|ftp):/i.test(address);
  return element("a", {
    href: isSafe ? address : undefined,
    title: address,
    target: "_blank",
    rel: "noopener noreferrer",
  });
}

function makeButton(node, label, onPress) {
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
  node.setAttribute("aria-label", label);
  node.addEventListener("click", onPress);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onPress();
  });
}
