import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { Nodes, Root } from "mdast";
import type { Mark } from "./platform-emulator.ts";

/** A text as people see it, and how its parts look. */
export interface ShownText {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Joins texts that stand below each other. */
export function below(parts: readonly ShownText[]): ShownText {
  return {
    text: parts
      .map(({ text }) => text)
      .filter((text) => text !== "")
      .join("\n"),
    marks: parts.flatMap(({ marks }) => marks),
  };
}

/** Returns a text with the parts that notify people marked. @param source as the platform reads it */
export function withMentions(shown: ShownText, source: string, mention: RegExp): ShownText {
  const mentions = [...source.matchAll(mention)].map(([text]) => ({ kind: "mention" as const, text }));
  return { text: shown.text, marks: [...shown.marks, ...mentions] };
}

/** Returns a source in Markdown without its code, in which no platform but Slack looks for mentions. */
export function withoutCode(source: string): string {
  return source.replace(/(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, " ");
}

export const plain = (text: string): ShownText => ({ text, marks: [] });

const KINDS: Partial<Record<Nodes["type"], Mark["kind"]>> = {
  strong: "bold",
  emphasis: "italic",
  delete: "strike",
  inlineCode: "code",
  code: "block",
  link: "link",
  listItem: "item",
  heading: "heading",
  table: "table",
  blockquote: "quote",
};

const BLOCKS = new Set([
  "paragraph",
  "heading",
  "listItem",
  "code",
  "table",
  "tableRow",
  "blockquote",
  "html",
]);

export interface MarkdownShown {
  /** Kinds that this platform does not render: their source is seen. */
  readonly shownAsSource?: readonly Nodes["type"][];
}

const shown = new Map<string, ShownText>();

/** Renders the Markdown of GitHub, which several platforms take in whole or in part. Rows look at a text many times. */
export function showMarkdown(source: string, { shownAsSource = [] }: MarkdownShown = {}): ShownText {
  const key = JSON.stringify([source, shownAsSource]);
  const known = shown.get(key);
  if (known !== undefined) return known;
  const made = renderMarkdown(source, shownAsSource);
  shown.set(key, made);
  return made;
}

function renderMarkdown(source: string, shownAsSource: readonly Nodes["type"][]): ShownText {
  const root: Root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const marks: Mark[] = [];
  const walk = (node: Nodes): string => {
    if (shownAsSource.includes(node.type)) {
      return `${source.slice(node.position?.start.offset, node.position?.end.offset)}\n`;
    }
    const inner =
      node.type === "list" && node.ordered === true
        ? node.children.map((child, index) => `${(node.start ?? 1) + index}. ${walk(child)}`).join("")
        : "children" in node
          ? node.children.map((child) => walk(child)).join(node.type === "tableRow" ? " " : "")
          : node.type === "break"
            ? "\n"
            : "value" in node
              ? node.value
              : "";
    const kind = KINDS[node.type];
    if (kind !== undefined) {
      marks.push({ kind, text: inner.trim(), ...(node.type === "link" && { url: node.url }) });
    }
    return BLOCKS.has(node.type) ? `${inner.trimEnd()}\n` : inner;
  };
  return { text: walk(root).trim(), marks };
}

/** A line that people read as an item of a list. */
const ITEM = /^(?:[•*-]|\d+\.) (.+)$/gm;

/** Adds the lines that look like items, for platforms whose clients show no other lists. */
export function withBullets({ marks, text }: ShownText): ShownText {
  const items = [...text.matchAll(ITEM)].map(([, item = ""]) => ({ kind: "item" as const, text: item }));
  return { text, marks: [...marks, ...items] };
}

export interface StarsShown {
  readonly hasLabels: boolean;
  /** Lines that are items of a list. @default all that people read as one */
  readonly item?: RegExp;
}

/**
 * Renders the markup of Slack and WhatsApp: `*bold*`, `_italic_`, `~strike~`, `` `code` ``, and lines that begin with a
 * bullet. Neither has escapes: a backslash is a backslash. Slack's links are `<address|label>`, WhatsApp's are bare.
 */
export function showStars(source: string, { hasLabels, item = ITEM }: StarsShown): ShownText {
  const marks: Mark[] = [];
  const kept: string[] = [];
  const keep = (text: string): string => `\uE000${kept.push(text) - 1}\uE001`;
  const restore = (text: string): string =>
    text.replace(/\uE000(\d+)\uE001/g, (_all, index) => restore(kept[Number(index)] ?? ""));
  let text = source.replace(/```\n?([^]*?)\n?```/g, (_all, code: string) => {
    marks.push({ kind: "block", text: code });
    return keep(code);
  });
  text = text.replace(/`([^`\n]+)`/g, (_all, code: string) => {
    marks.push({ kind: "code", text: code });
    return keep(code);
  });
  if (hasLabels) {
    text = text.replace(
      /<((?:https?:|mailto:)[^|>]+)(?:\|([^>]*))?>/g,
      (_all, url: string, label?: string) => {
        marks.push({ kind: "link", text: label ?? url, url });
        return keep(label ?? url);
      },
    );
  } else {
    for (const [url] of text.matchAll(/https?:\/\/[^\s)>\]]+/g)) marks.push({ kind: "link", text: url, url });
  }
  const signs = [
    ["*", "bold"],
    ["_", "italic"],
    ["~", "strike"],
  ] as const;
  for (const [sign, kind] of signs) {
    const pattern = new RegExp(
      `(?<![\\w${sign}])\\${sign}(?![\\s\\${sign}])([^\\n]*?[^\\s\\${sign}])\\${sign}(?![\\w\\${sign}])`,
      "g",
    );
    text = text.replace(pattern, (_all, inner: string) => {
      marks.push({ kind, text: restore(inner) });
      return inner;
    });
  }
  for (const [, words] of text.matchAll(item)) {
    if (words !== undefined) marks.push({ kind: "item", text: restore(words) });
  }
  for (const [, quote] of text.matchAll(/^> (.+)$/gm)) {
    if (quote !== undefined) marks.push({ kind: "quote", text: restore(quote) });
  }
  return { text: restore(text).trim(), marks };
}
