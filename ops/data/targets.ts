import path from "node:path";
import { ServeError } from "../serve/serve-error.ts";
import { evidenceIn, textOf } from "./mentions.ts";
import { forEachRow, listObjects, rowsOf } from "./object-store.ts";
import type { Cell, Row, StoredObject } from "./object-store.ts";

/** A chat or a person, as the platform identifies it. */
export interface Target {
  /** The ids that mean it: its own, and those of chats that continue as it or were it. */
  readonly ids: ReadonlySet<string>;
  /** Objects that belong to it. They hold nothing else, or nothing that can be told apart. */
  readonly objects: readonly FoundObject[];
}

export interface FoundObject extends StoredObject {
  /** Why the object belongs to the target. */
  readonly because: "its own chat" | "its messages";
}

/** Names of a person shorter than this would match too much. */
const MIN_NAME = 3;
/** The model reads no more characters of a name. */
const MAX_NAME = 64;

/**
 * Finds everything that belongs to a chat or a person.
 *
 * - A chat: its conversations and topics, its gate, and the chats that it was before or has become.
 * - A person: their private chats, and every conversation that has their id or a message under one of their names.
 *   Answers and summaries repeat what people say, so a conversation cannot forget one of them alone.
 *
 * @param id the platform's id of the chat or the person
 * @param names names of the person in groups, as the bot shows them to the model
 * @throws {ServeError} `target-unknown` if nothing belongs to it
 */
export function findTarget(dataDirectory: string, id: string, names: readonly string[] = []): Target {
  const all = listObjects(path.join(dataDirectory, "objects"));
  const roots = all.filter(({ name }) => name !== undefined && !name.includes("/"));
  const ids = new Set([id]);
  for (const root of roots) addAliases(ids, root);
  const evidence = evidenceIn(
    all.map(({ file }) => file),
    id,
  );
  // Administrators may write in the name of their group. It is no person for that.
  const isGroup = roots.some((root) => isGroupIn(root, id));
  const isPerson = !isGroup && (evidence.isPerson || roots.some((root) => isPersonIn(root, id)));
  const directory = new Map<string, string>(
    roots.flatMap((root) =>
      rowsOf(root.file, "directory_v2").map(
        (row) => [`${root.name}/${textOf(row.name)}`, textOf(row.chat_id)] as const,
      ),
    ),
  );
  const found = isPerson ? [...evidence.names, ...namesOf(roots, id)] : [];
  const marks = [...names, ...found.map(asLabel)].flatMap((name) =>
    name.length < MIN_NAME ? [] : [`${name}: `, `${inJson(name)}: `],
  );
  const objects = all.flatMap((object): FoundObject[] => {
    if (object.name === undefined || isShared(object.name)) return [];
    const chat = directory.get(object.name);
    if (chat === undefined ? isOfChat(object.name, ids) : ids.has(chat))
      return [{ ...object, because: "its own chat" }];
    const isMentioned = mentions(object.file, isPerson ? ids : new Set(), marks);
    return isMentioned ? [{ ...object, because: "its messages" }] : [];
  });
  const isKnown = isPerson || evidence.isChat || objects.some(({ because }) => because === "its own chat");
  if (objects.length === 0 && !isKnown) {
    throw new ServeError(
      "target-unknown",
      `No chat and no person has the id ${id} here. "switchboard data usage" lists the chats with their ids. Groups keep a person's id for a week, and their messages longer: "forget" finds those with --name.`,
    );
  }
  return { ids: isKnown ? ids : new Set(), objects };
}

/** Tells whether an object is a root, or has what an adapter keeps of many chats. */
function isShared(objectName: string): boolean {
  return !objectName.includes("/") || objectName.includes("/state:");
}

/** Returns a name as the bot shows it to the model: in one line, without colons, and not too long. */
function asLabel(name: string): string {
  const line = name.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+/gu, " ");
  const characters = Array.from(line.replaceAll(/\s*[:：]\s*/g, " ").trim());
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join("")}…` : characters.join("");
}

/** Returns a text as it stands in a longer one of stored JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Tells whether a value names one of the ids. A number inside of a longer number does not count. */
export function namesOne(value: Cell | undefined, ids: ReadonlySet<string>): boolean {
  if (typeof value !== "string" && !(value instanceof Uint8Array)) return false;
  const text = textOf(value);
  return [...ids].some((id) => {
    for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
      const [before = "", after = ""] = [text[at - 1], text[at + id.length]];
      // An encoded id follows "%3A", and that of a group begins with "-".
      const isEncoded = /%[0-9A-F]{2}$/i.test(text.slice(Math.max(0, at - 3), at));
      const isInside =
        (isDigit(before) && !isEncoded && isDigit(id[0] ?? "")) ||
        (isDigit(after) && isDigit(id.at(-1) ?? ""));
      if (!isInside) return true;
    }
    return false;
  });
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character !== "";
}

/** Adds the ids of chats that have moved to or from one of the ids. */
function addAliases(ids: Set<string>, root: StoredObject): void {
  for (const row of rowsOf(root.file, "alias_v1")) {
    const [from, to] = [textOf(row.chat_id), textOf(row.to_chat_id)];
    if (ids.has(from)) ids.add(to);
    if (ids.has(to)) ids.add(from);
  }
}

/** A person has a private chat in the directory, or was seen as a user. */
function isPersonIn(root: StoredObject, id: string): boolean {
  return (
    rowsOf(root.file, "chat_v1").some((row) => textOf(row.user_id) === id) ||
    rowsOf(root.file, "directory_v2").some((row) => textOf(row.chat_id) === id && Number(row.is_direct) === 1)
  );
}

function isGroupIn(root: StoredObject, id: string): boolean {
  return rowsOf(root.file, "directory_v2").some(
    (row) => textOf(row.chat_id) === id && Number(row.is_direct) === 0,
  );
}

/** Returns the names under which a person's messages may stand in a group: the titles of their private chats. */
function namesOf(roots: readonly StoredObject[], id: string): string[] {
  return roots.flatMap((root) =>
    rowsOf(root.file, "chat_v1")
      .filter((row) => textOf(row.user_id) === id)
      .map((row) => textOf(row.title)),
  );
}

/** Tells whether an object is that of a thread in one of the chats, by its name. */
function isOfChat(objectName: string, ids: ReadonlySet<string>): boolean {
  const conversation = objectName.slice(objectName.indexOf("/") + 1);
  const encoded = /^thread:[^:]*:(.+)$/.exec(conversation)?.[1];
  if (encoded === undefined) return false;
  let thread: string;
  try {
    thread = decodeURIComponent(encoded);
  } catch {
    // The name of a thread with a long id is a hash.
    return false;
  }
  // Ids of some platforms have colons of their own.
  return [...ids].some((id) => `:${thread}:`.includes(`:${id}:`));
}

/** Tells whether a text has a name as a label. `Bruce Lee: ` is not the label of Lee. */
export function hasMark(text: string, mark: string): boolean {
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    // A line break stands as two characters in stored JSON.
    const before = text.slice(Math.max(0, at - 4), at).replace(/\\n$/, "\n");
    if (!/[\p{L}\p{N}] ?$|(?:^|[^\p{L}])\p{Lu}\. $/u.test(before)) return true;
  }
  return false;
}

function mentions(file: string, ids: ReadonlySet<string>, marks: readonly string[]): boolean {
  let isFound = false;
  forEachRow(file, (_table: string, row: Row) => {
    isFound ||= Object.values(row).some(
      (value) => namesOne(value, ids) || marks.some((mark) => hasMark(textOf(value), mark)),
    );
  });
  return isFound;
}
