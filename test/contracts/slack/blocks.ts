import { below, plain, showMarkdown, showStars, type ShownText } from "../shown-text.ts";

interface TextObject {
  readonly type: "plain_text" | "mrkdwn";
  readonly text: string;
}

export interface Button {
  readonly type: "button";
  readonly text: TextObject;
  readonly action_id?: string;
  readonly value?: string;
  readonly url?: string;
}

type Cell =
  | { readonly type: "raw_text"; readonly text: string }
  | { readonly type: "rich_text"; readonly elements: readonly unknown[] };

/** The blocks of messages that Slack documents, with the fields that people see. */
export interface Block {
  readonly type: string;
  readonly block_id?: string;
  readonly text?: TextObject | string;
  readonly fields?: readonly TextObject[];
  readonly accessory?: Button;
  readonly elements?: readonly (Button | TextObject)[];
  readonly alt_text?: string;
  readonly title?: TextObject;
  readonly rows?: readonly (readonly Cell[])[];
}

const KNOWN = new Set([
  "actions",
  "context",
  "divider",
  "header",
  "image",
  "markdown",
  "rich_text",
  "section",
  "table",
]);
const INVALID = "invalid_blocks";

/** Returns Slack's code for blocks that it refuses. */
export function problemOfBlocks(blocks: readonly Block[]): string | undefined {
  if (blocks.length > 50 || blocks.some(({ type }) => !KNOWN.has(type))) return INVALID;
  for (const block of blocks) {
    const text = typeof block.text === "string" ? block.text : (block.text?.text ?? "");
    if (block.type === "section") {
      if (text === "" && (block.fields ?? []).length === 0) return INVALID;
      if (text.length > 3000 || (block.fields?.length ?? 0) > 10) return INVALID;
      if (block.fields?.some((field) => field.text === "" || field.text.length > 2000) === true)
        return INVALID;
    }
    if (block.type === "header" && (text === "" || text.length > 150)) return INVALID;
    if (block.type === "markdown" && text === "") return INVALID;
    if (block.type === "context" && (block.elements?.length ?? 0) > 10) return INVALID;
    if (
      block.type === "table" &&
      ((block.rows?.length ?? 0) > 100 || block.rows?.some((row) => row.length > 20) === true)
    )
      return INVALID;
    if (block.type === "actions") {
      const count = block.elements?.length ?? 0;
      if (count === 0 || count > 25) return INVALID;
    }
  }
  const buttons = buttonsOf(blocks, { withLinks: true });
  const isBad = ({ action_id: id, text, value }: Button): boolean =>
    text.type !== "plain_text" ||
    text.text === "" ||
    text.text.length > 75 ||
    (value?.length ?? 0) > 2000 ||
    (id?.length ?? 0) > 255;
  if (buttons.some(isBad)) return INVALID;
  const ids = buttons.flatMap(({ action_id: id }) => (id === undefined ? [] : [id]));
  if (new Set(ids).size !== ids.length) return INVALID;
  const length = blocks.reduce(
    (sum, block) =>
      sum + (block.type === "markdown" && typeof block.text === "string" ? block.text.length : 0),
    0,
  );
  return length > 12_000 ? "msg_too_long" : undefined;
}

export function buttonsOf(blocks: readonly Block[], { withLinks = false } = {}): readonly Button[] {
  return blocks
    .flatMap((block) => [
      ...(block.elements ?? []),
      ...(block.accessory === undefined ? [] : [block.accessory]),
    ])
    .filter((element): element is Button => element.type === "button")
    .filter(({ url }) => withLinks || url === undefined);
}

export function findButton(
  blocks: readonly Block[],
  label: string,
): { readonly block: Block; readonly button: Button } | undefined {
  for (const block of blocks) {
    const button = buttonsOf([block]).find(({ text }) => text.text === label);
    if (button !== undefined) return { block, button };
  }
  return undefined;
}

export function showBlocks(blocks: readonly Block[]): ShownText {
  return below(blocks.map((block) => showBlock(block)));
}

function showBlock(block: Block): ShownText {
  switch (block.type) {
    case "header":
      return typeof block.text === "object"
        ? { text: block.text.text, marks: [{ kind: "heading", text: block.text.text }] }
        : plain("");
    case "section":
      return below([
        ...(typeof block.text === "object" ? [showText(block.text)] : []),
        ...(block.fields ?? []).map((field) => showText(field)),
      ]);
    case "context":
      return below(
        (block.elements ?? []).flatMap((part) => (part.type === "button" ? [] : [showText(part)])),
      );
    case "markdown":
      return showMarkdown(typeof block.text === "string" ? block.text : "");
    case "image":
      return plain(block.alt_text ?? "");
    case "table": {
      const text = (block.rows ?? [])
        .map((row) =>
          row.map((cell) => (cell.type === "raw_text" ? cell.text : JSON.stringify(cell.elements))).join(" "),
        )
        .join("\n");
      return { text, marks: [{ kind: "table", text }] };
    }
    default:
      return plain("");
  }
}

function showText({ text, type }: TextObject): ShownText {
  return type === "mrkdwn" ? showStars(text, { hasLabels: true }) : plain(text);
}
