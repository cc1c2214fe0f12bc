import { forEachRow } from "./object-store.ts";
import type { Cell, Row } from "./object-store.ts";

/** The evidence that rows give about an id of a platform. */
export interface Evidence {
  /** Whether a row names a chat by it. */
  readonly isChat: boolean;
  /** Whether a row names a person by it. */
  readonly isPerson: boolean;
  /** Names of that person, as groups show them to the model. */
  readonly names: ReadonlySet<string>;
}

/** Names of columns, and of keys in stored JSON, whose values are people. Messages and topics have other names. */
const PERSON = /user|person|people|author|approver|owner|member|from/i;
const CHAT = /chat/i;
/** The bot's own account, which is no person in a chat. */
const BOT_ACCOUNT = "identity_v2";

/**
 * Looks for chats and people with this id. Small numbers are everywhere, so it counts only where a chat or a person is
 * expected.
 */
export function evidenceIn(files: readonly string[], id: string): Evidence {
  const found = { isChat: false, isPerson: false, names: new Set<string>() };
  for (const file of files) {
    forEachRow(file, (table, row) => {
      if (table !== BOT_ACCOUNT) readRow(row, id, found);
    });
  }
  return found;
}

type Found = { isChat: boolean; isPerson: boolean; names: Set<string> };

function readRow(row: Row, id: string, found: Found): void {
  for (const [column, cell] of Object.entries(row)) {
    const text = textOf(cell);
    if (typeof cell === "number" || typeof cell === "bigint" || !text.includes(id)) continue;
    readValue(parsed(text), column, id, found);
  }
}

function readValue(value: unknown, key: string, id: string, found: Found): void {
  if (Array.isArray(value)) {
    for (const item of value) readValue(item, key, id, found);
  } else if (typeof value === "object" && value !== null) {
    const fields = new Map<string, unknown>(Object.entries(value));
    const isMeant = String(fields.get("userId") ?? (PERSON.test(key) ? fields.get("id") : "")) === id;
    if (isMeant) {
      found.isPerson = true;
      const name = nameOf(fields);
      if (name !== "") found.names.add(name);
    }
    if (CHAT.test(key) && String(fields.get("id")) === id) found.isChat = true;
    for (const [name, child] of fields) readValue(child, name, id, found);
  } else if (typeof value === "string" || typeof value === "number") {
    // A person may be stored with their messenger: "telegram:4711".
    if (!String(value).split(":").includes(id)) return;
    if (PERSON.test(key)) found.isPerson = true;
    else if (CHAT.test(key)) found.isChat = true;
  }
}

function nameOf(person: ReadonlyMap<string, unknown>): string {
  const words = (key: string): string => {
    const value = person.get(key);
    return typeof value === "string" ? value : "";
  };
  return words("fullName") || words("userName") || `${words("first_name")} ${words("last_name")}`.trim();
}

/** Reads a cell as JSON if it is an object or a list. Anything else is its own text. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function textOf(value: Cell | undefined): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  return value === null || value === undefined ? "" : String(value);
}
