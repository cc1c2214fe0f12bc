import type { RichBlock } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import type { CallParameters } from "../call-parameters.ts";
import { checkRichLimits } from "./check-rich-limits.ts";
import { arrayOf, isEmptyText, readRichText, recordOf } from "./read-rich-text.ts";
import type { Fields } from "./read-rich-text.ts";

/**
 * Reads the parameter `rich_message` into the form that Telegram stores. Only blocks are modelled, not the two markups.
 *
 * @throws {BotApiError} when Telegram would refuse it
 */
export function readRichMessage(parameters: CallParameters, isDraft = false): readonly RichBlock[] {
  const message = parameters.json("rich_message", "rich message");
  if (message === undefined) throw badRequest("rich message must be non-empty");
  const { blocks, markdown, html } = recordOf(message, "InputRichMessage");
  if (blocks === undefined) {
    if (markdown === undefined && html === undefined) throw badRequest("rich message must be non-empty");
    throw badRequest("the simulator reads rich messages as blocks only");
  }
  const read = arrayOf(blocks, "InputRichMessage", "blocks").map((block) => readBlock(block, isDraft));
  if (read.length === 0) throw badRequest("RICH_MESSAGE_EMPTY");
  checkRichLimits(read);
  return read;
}

function readBlock(value: unknown, isDraft: boolean): RichBlock {
  const fields = recordOf(value, "InputRichBlock");
  const { type } = fields;
  if (typeof type !== "string") throw badRequest(`can't parse InputRichBlock: Can't find field "type"`);
  switch (type) {
    case "paragraph":
      return { type, text: readRichText(fields.text ?? "") };
    case "heading": {
      const size = Number(fields.size);
      if (size !== 1 && size !== 2 && size !== 3 && size !== 4 && size !== 5 && size !== 6) {
        throw badRequest("invalid section heading size specified");
      }
      return { type, text: requiredText(fields), size };
    }
    case "pre": {
      const { language } = fields;
      const text = requiredText(fields);
      return typeof language === "string" && language !== "" ? { type, text, language } : { type, text };
    }
    case "footer":
    case "pullquote":
    case "expandable_blockquote":
      return { type, text: requiredText(fields) };
    case "thinking":
      if (!isDraft) throw badRequest("RICH_MESSAGE_BLOCK_NOT_ALLOWED");
      return { type, text: requiredText(fields) };
    case "divider":
      return { type };
    case "mathematical_expression":
      return { type, expression: requiredString(fields, "expression") };
    case "anchor":
      return { type, name: requiredString(fields, "name") };
    case "blockquote":
      return { type, blocks: requiredBlocks(fields, isDraft) };
    case "details":
      return {
        type,
        summary: readRichText(fields.summary ?? ""),
        blocks: requiredBlocks(fields, isDraft),
        ...(fields.is_open === true && { is_open: true as const }),
      };
    case "list":
      return readList(fields, isDraft);
    case "table":
      return readTable(fields);
    default:
      throw badRequest(`can't parse InputRichBlock: type "${type}" is unsupported`);
  }
}

function readList(fields: Fields, isDraft: boolean): RichBlock {
  const items = arrayOf(fields.items, "InputRichBlock", "items").map((value) => {
    const item = recordOf(value, "InputRichBlockListItem");
    const blocks = arrayOf(item.blocks, "InputRichBlockListItem", "blocks").map((block) =>
      readBlock(block, isDraft),
    );
    if (blocks.length === 0) throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
    const isOrdered = typeof item.type === "string" && item.type !== "";
    if (isOrdered && !/^[aAiI1]$/.test(String(item.type)))
      throw badRequest("invalid list item type specified");
    const number = Number(item.value ?? 0);
    return {
      label: isOrdered ? `${number}.` : "•",
      blocks,
      ...(item.has_checkbox === true && { has_checkbox: true as const }),
      ...(item.is_checked === true && { is_checked: true as const }),
      ...(isOrdered && { value: number, type: item.type as "1" }),
    };
  });
  if (items.length === 0) throw badRequest("list must be non-empty");
  const ordered = items.filter(({ label }) => label !== "•").length;
  if (ordered > 0 && ordered < items.length) throw badRequest("list must be either ordered or unordered");
  return { type: "list", items };
}

function readTable(fields: Fields): RichBlock {
  const cells = arrayOf(fields.cells, "InputRichBlock", "cells").map((row) =>
    arrayOf(row, "InputRichBlock", "cells").map((value) => {
      const cell = recordOf(value, "RichBlockTableCell");
      const isHeader = cell.is_header === true;
      return {
        text: readRichText(cell.text ?? ""),
        ...(isHeader && { is_header: true as const }),
        align: oneOf(cell.align, ["left", "center", "right"], isHeader ? "center" : "left"),
        valign: oneOf(cell.valign, ["top", "middle", "bottom"], "top"),
      };
    }),
  );
  if (cells.length === 0) throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
  return {
    type: "table",
    cells,
    ...(fields.is_bordered === true && { is_bordered: true as const }),
    ...(fields.is_striped === true && { is_striped: true as const }),
    ...(fields.is_compact === true && { is_compact: true as const }),
  };
}

function requiredText(fields: Fields): ReturnType<typeof readRichText> {
  const text = readRichText(fields.text ?? "");
  if (isEmptyText(text)) throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
  return text;
}

function requiredBlocks(fields: Fields, isDraft: boolean): RichBlock[] {
  const blocks = arrayOf(fields.blocks, "InputRichBlock", "blocks").map((block) => readBlock(block, isDraft));
  if (blocks.length === 0) throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
  return blocks;
}

function requiredString(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string" || value === "") throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
  return value;
}

function oneOf<Value extends string>(value: unknown, allowed: readonly Value[], otherwise: Value): Value {
  return allowed.find((candidate) => candidate === value) ?? otherwise;
}
