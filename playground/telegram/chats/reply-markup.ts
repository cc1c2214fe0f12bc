import type {
  ForceReply,
  InlineKeyboardMarkup,
  ReplyKeyboardMarkup,
  ReplyKeyboardRemove,
} from "grammy/types";
import { badRequest } from "../bot-api/bot-api-error.ts";
import { checkLink } from "../bot-api/format/check-link.ts";

export type Markup =
  | { readonly kind: "inline"; readonly markup: InlineKeyboardMarkup }
  | { readonly kind: "other"; readonly markup: ReplyKeyboardMarkup | ReplyKeyboardRemove | ForceReply };

const maxButtons = 100;
const maxCallbackDataBytes = 64;
const maxCopyTextLength = 256;

/**
 * Checks `reply_markup`. An inline keyboard without buttons counts as no keyboard.
 *
 * @throws {BotApiError} for malformed keyboards, empty or long callback data, too many buttons
 */
export function parseMarkup(value: unknown): Markup | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw badRequest("object expected as reply markup");
  if (!("inline_keyboard" in value)) {
    if (Object.keys(value).length === 0) return undefined;
    return { kind: "other", markup: value as ReplyKeyboardMarkup };
  }
  const rows = value.inline_keyboard;
  if (!Array.isArray(rows)) throw badRequest('field "inline_keyboard" must be of type Array');
  for (const row of rows) {
    if (!Array.isArray(row)) throw badRequest('field "inline_keyboard" must be an Array of Arrays');
    for (const button of row) checkButton(button);
  }
  const kept = rows.filter((row) => row.length > 0);
  const count = kept.reduce((sum, row) => sum + row.length, 0);
  if (count === 0) return undefined;
  if (count > maxButtons) throw badRequest("reply markup is too long");
  return { kind: "inline", markup: { inline_keyboard: kept } };
}

function checkButton(button: unknown): void {
  const refuse = (reason: string): never => {
    throw badRequest(`can't parse inline keyboard button: ${reason}`);
  };
  if (typeof button !== "object" || button === null) return refuse("InlineKeyboardButton must be an Object");
  const fields = button as Record<string, unknown>;
  if (!("text" in fields)) refuse(`Can't find field "text"`);
  if (typeof fields.text !== "string") refuse('Field "text" must be of type String');
  if (fields.text === "") throw badRequest("BUTTON_TEXT_INVALID");
  const url = fields.url;
  if (typeof url === "string" && url !== "") {
    const checked = checkLink(url);
    if ("problem" in checked) {
      throw badRequest(`inline keyboard button URL '${url}' is invalid: ${checked.problem}`);
    }
    return;
  }
  const data = fields.callback_data;
  if (data !== undefined && typeof data !== "string") refuse('Field "callback_data" must be of type String');
  if (typeof data === "string" && data !== "") {
    if (Buffer.byteLength(data) > maxCallbackDataBytes) throw badRequest("BUTTON_DATA_INVALID");
    return;
  }
  if ("copy_text" in fields) {
    const copy = fields.copy_text;
    const text = typeof copy === "object" && copy !== null && "text" in copy ? copy.text : undefined;
    if (typeof text !== "string") refuse('Field "copy_text" must contain a text');
    else if (text === "" || text.length > maxCopyTextLength) throw badRequest("BUTTON_COPY_TEXT_INVALID");
    return;
  }
  const otherKinds = [
    "callback_game",
    "pay",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "login_url",
    "web_app",
  ];
  if (!otherKinds.some((kind) => kind in fields)) refuse("Text buttons are unallowed in the inline keyboard");
}
