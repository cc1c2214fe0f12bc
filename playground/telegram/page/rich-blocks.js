import { element } from "./dom.js";
import { link } from "./rich-text.js";

/**
 * Shows the blocks of a rich message.
 *
 * @param {readonly any[]} blocks
 * @returns {HTMLElement}
 */
export function richBlocks(blocks) {
  return element("div", { class: "text rich", dir: "auto" }, ...blocks.map(blockView));
}

function blockView(block) {
  switch (block.type) {
    case "paragraph":
      return element("p", {}, ...inline(block.text));
    case "heading":
      // The page has its own headings above those of a message.
      return element(
        `h${Math.min(6, block.size + 2)}`,
        { class: `size-${block.size}` },
        ...inline(block.text),
      );
    case "pre":
      return element(
        "pre",
        {},
        block.language === undefined ? undefined : element("span", { class: "language" }, block.language),
        element("code", {}, ...inline(block.text)),
      );
    case "footer":
      return element("footer", {}, ...inline(block.text));
    case "divider":
      return element("hr");
    case "mathematical_expression":
      return element("div", { class: "formula block" }, block.expression);
    case "blockquote":
      return element("blockquote", {}, ...block.blocks.map(blockView));
    case "expandable_blockquote":
    case "pullquote":
      return element("blockquote", {}, ...inline(block.text));
    case "details": {
      const summary = element("summary", {}, ...inline(block.summary));
      return element("details", { open: block.is_open }, summary, ...block.blocks.map(blockView));
    }
    case "list":
      return listView(block);
    case "table":
      return tableView(block);
    case "thinking":
      return element("div", { class: "thinking" }, ...inline(block.text));
    default:
      return element("p", { class: "unknown" }, `(${block.type})`);
  }
}

function listView({ items }) {
  const isOrdered = items[0]?.value !== undefined;
  const views = items.map(({ value, has_checkbox: hasBox, is_checked: isChecked, blocks }) => {
    const box = hasBox
      ? element("input", { type: "checkbox", checked: isChecked, disabled: true, "aria-label": "Task" })
      : undefined;
    return element(
      "li",
      { value: isOrdered ? value : undefined, class: hasBox ? "task" : undefined },
      box,
      ...blocks.map(blockView),
    );
  });
  return element(isOrdered ? "ol" : "ul", {}, ...views);
}

function tableView({ cells }) {
  const rows = cells.map((row) =>
    element(
      "tr",
      {},
      ...row.map(({ text = "", is_header: isHeader, align }) =>
        element(isHeader ? "th" : "td", { class: `align-${align}` }, ...inline(text)),
      ),
    ),
  );
  return element(
    "div",
    { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Table" },
    element("table", {}, element("tbody", {}, ...rows)),
  );
}

const tags = {
  bold: "strong",
  italic: "em",
  underline: "u",
  strikethrough: "s",
  code: "code",
  subscript: "sub",
  superscript: "sup",
  marked: "mark",
};

function inline(text) {
  if (typeof text === "string") return [text];
  if (Array.isArray(text)) return text.flatMap(inline);
  if (text.type in tags) return [element(tags[text.type], {}, ...inline(text.text))];
  switch (text.type) {
    case "url":
    case "email_address": {
      const anchor = link(text.url ?? `mailto:${text.email_address}`);
      anchor.append(...inline(text.text));
      return [anchor];
    }
    case "mathematical_expression":
      return [element("span", { class: "formula" }, text.expression)];
    default:
      return [element("span", { class: `entity ${text.type}` }, ...inline(text.text ?? ""))];
  }
}
