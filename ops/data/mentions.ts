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

/**
 * Words in the names of columns, and of keys in stored JSON, that say what a value is. The last one counts:
 * `forward_from_chat` is a chat, and `forward_from_message_id` is a message.
 */
const NOUNS = new Map<string, "person" | "chat" | "other">([
  ...["user", "person", "author", "approver", "owner", "member", "from"].map(
    (word) => [word, "person"] as const,
  ),
  ["people", "person"],
  ["chat", "chat"],
  ...["message", "thread", "topic", "query", "update", "name"].map((word) => [word, "other"] as const),
]);
/** Values that a model or the bot's own code has made. A number there may mean anything. */
const MADE_UP = new Set(["input", "output", "args", "arguments", "result", "payload"]);
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
  if (MADE_UP.has(key)) return;
  const kind = kindOf(key);
  if (Array.isArray(value)) {
    for (const item of value) readValue(item, key, id, found);
  } else if (typeof value === "object" && value !== null) {
    const fields = new Map<string, unknown>(Object.entries(value));
    const isMeant = String(fields.get("userId") ?? (kind === "person" ? fields.get("id") : "")) === id;
    if (isMeant) {
      found.isPerson = true;
      const name = nameOf(fields);
      if (name !== "") found.names.add(name);
    }
    if (kind === "chat" && String(fields.get("id")) === id) found.isChat = true;
    for (const [name, child] of fields) readValue(child, name, id, found);
  } else if (typeof value === "string" || typeof value === "number") {
    // A person may be stored with their messenger: "telegram:4711".
    if (!String(value).split(":").includes(id)) return;
    if (kind === "person" && isIdOfPerson(value, key)) found.isPerson = true;
    else if (kind === "chat") found.isChat = true;
  }
}

/** A number, or a range that is `from` something, is a person only where a user's id is expected. */
function isIdOfPerson(value: string | number, key: string): boolean {
  const words = wordsOf(key);
  return typeof value === "number" ? words.at(-1) === "id" : words.at(-1) !== "from";
}

function kindOf(key: string): "person" | "chat" | "other" | undefined {
  const kinds = wordsOf(key).map((word) => NOUNS.get(word) ?? NOUNS.get(word.replace(/s$/, "")));
  return kinds.findLast((kind) => kind !== undefined);
}

/** Returns the words of `a_name` or `aName`. */
function wordsOf(key: string): readonly string[] {
  return key
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
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
