import { createHash, createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ServeError } from "../serve/serve-error.ts";
import { writeAtomically } from "../serve/write-atomically.ts";
import { textOf } from "./mentions.ts";
import {
  changeRows,
  forEachRow,
  keepRootClass,
  listObjects,
  moveAlarm,
  OUR_TABLE,
  rowsOf,
} from "./object-store.ts";
import type { RowChange, StoredObject } from "./object-store.ts";

const JOURNAL = "moving.json";
const placeSchema = z.object({ classKey: z.string(), id: z.string() });
const moveSchema = z.object({
  root: placeSchema,
  from: placeSchema,
  to: placeSchema,
  conversation: z.string(),
  className: z.string(),
  /** The class that the object's root has, unless it has the same one. */
  rootClass: z.string().optional(),
  /** Addresses and names by which other objects know it, before and after. */
  renamed: z.array(z.tuple([z.string(), z.string()])),
});

/** A move that has begun. Each of its steps can be repeated. */
type Move = Readonly<z.infer<typeof moveSchema>>;

/** The states of a turn that runs no more; see `TurnState`. */
const ENDED = new Set(["ended", "withdrawn"]);
/** Columns that name a conversation, and are no address of its object. */
const NAMES: Readonly<Record<string, string>> = {
  directory_v2: "name",
  conversation_class_v1: "conversation",
};

/**
 * Gives a conversation to another class, with everything that it has: its object, the object's alarm, and how other
 * objects reach it. The move is written down before it begins, so a process that is killed in its middle loses and
 * doubles nothing: `finishMove` completes it before the bot starts. The bot must not run.
 *
 * @param conversation its name, or `<root>/<name>` if several roots have it
 * @param afterStep called after each step. @default nothing
 * @throws {ServeError} `conversation-unknown`, `class-not-chosen`, `class-unknown`, `conversation-busy`, `data-exists`
 */
export async function moveConversation(
  dataDirectory: string,
  conversation: string,
  className: string,
  afterStep?: () => void,
): Promise<void> {
  const objects = path.join(dataDirectory, "objects");
  const all = listObjects(objects);
  const { name, root } = rootOf(all, conversation);
  const [bot, rootClass] = splitKey(root.classKey);
  const stored = rowsOf(root.file, "conversation_class_v1").find((row) => row.conversation === name);
  if (textOf(stored?.chosen_class ?? null) !== className)
    throw new ServeError(
      "class-not-chosen",
      `The bot's conversation() has not chosen ${className} for ${name}. Change it first, and let somebody write there.`,
    );
  const current = textOf(stored?.class_name ?? null);
  if (current === className)
    throw new ServeError("class-not-chosen", `The conversation ${name} is with ${className} already.`);
  const objectName = `${root.name}/${name}`;
  const place = (of: string): Move["from"] => {
    const classKey = of === rootClass ? root.classKey : `${bot}-${of}`;
    return { classKey, id: objectId(classKey, objectName) };
  };
  const address = (of: string): string => (of === rootClass ? name : `${of}@${name}`);
  const [from, to] = [place(current), place(className)];
  const known = (wanted: Move["from"]): StoredObject | undefined =>
    all.find(({ classKey, id }) => classKey === wanted.classKey && id === wanted.id);
  check(objects, { from: known(from), to: known(to), name, className, classKey: to.classKey });
  const move: Move = {
    root: { classKey: root.classKey, id: root.id },
    from,
    to,
    conversation: name,
    className,
    ...(className !== rootClass && { rootClass }),
    renamed: [
      [address(current), address(className)],
      [`${root.name}/${address(current)}`, `${root.name}/${address(className)}`],
    ],
  };
  await writeAtomically(path.join(dataDirectory, JOURNAL), JSON.stringify(move));
  afterStep?.();
  await finishMove(dataDirectory, afterStep);
}

/**
 * Completes a move that a killed process has begun.
 *
 * @param afterStep called after each step. @default nothing
 */
export async function finishMove(dataDirectory: string, afterStep = (): void => undefined): Promise<void> {
  const journal = path.join(dataDirectory, JOURNAL);
  if (!existsSync(journal)) return;
  const move = moveSchema.parse(JSON.parse(await readFile(journal, "utf8")));
  const { className, conversation, from, renamed, root, rootClass, to } = move;
  const objects = path.join(dataDirectory, "objects");
  const fileOf = ({ classKey, id }: Move["from"]): string => path.join(objects, classKey, `${id}.sqlite`);
  if (existsSync(fileOf(from))) {
    keepRootClass(fileOf(from), rootClass);
    afterStep();
    for (const end of ["", "-wal", "-shm"]) await rm(`${fileOf(to)}${end}`, { force: true });
    await rename(fileOf(from), fileOf(to));
    afterStep();
  }
  for (const end of ["-wal", "-shm"]) await rm(`${fileOf(from)}${end}`, { force: true });
  moveAlarm(objects, from, to);
  afterStep();
  for (const { file } of listObjects(objects)) {
    changeRows(file, renamedRows(file, renamed));
    afterStep();
  }
  const key = { conversation };
  changeRows(fileOf(root), [{ table: "conversation_class_v1", key, values: { class_name: className } }]);
  afterStep();
  await rm(journal);
}

/** Returns the id that workerd gives to the object of a name. */
export function objectId(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const half = (of: string | Buffer): Buffer => createHmac("sha256", key).update(of).digest().subarray(0, 16);
  const first = half(name);
  return Buffer.concat([first, half(first)]).toString("hex");
}

function rootOf(
  all: readonly StoredObject[],
  conversation: string,
): { readonly name: string; readonly root: StoredObject } {
  const [, of, listed = ""] = /^(?:([^/]*)\/)?(.*)$/s.exec(conversation) ?? [];
  const name = listed.slice(listed.indexOf("@") + 1);
  const roots = all.filter(
    (object) =>
      object.name !== undefined &&
      !object.name.includes("/") &&
      (of === undefined || object.name === of) &&
      rowsOf(object.file, "directory_v2").some((row) => row.name === name),
  );
  const [root] = roots;
  if (root !== undefined && roots.length === 1) return { name, root };
  throw new ServeError(
    "conversation-unknown",
    root === undefined
      ? `No conversation has the name ${name} here. "switchboard data usage" lists them.`
      : `Several roots have a conversation ${name}: give <root>/${name}.`,
  );
}

/** Splits the folder of a class, `<bot>-<class>`. The name of a class has no hyphen. */
function splitKey(classKey: string): [bot: string, className: string] {
  const at = classKey.lastIndexOf("-");
  return [classKey.slice(0, at), classKey.slice(at + 1)];
}

function check(
  objects: string,
  move: {
    readonly from: StoredObject | undefined;
    readonly to: StoredObject | undefined;
    readonly name: string;
    readonly className: string;
    readonly classKey: string;
  },
): void {
  const { className, classKey, from, name, to } = move;
  if (from === undefined)
    throw new ServeError("conversation-unknown", `The object of ${name} is not in ${objects}.`);
  if (!existsSync(path.join(objects, classKey)))
    throw new ServeError("class-unknown", `The bot was never served with the class ${className} here.`);
  if (rowsOf(from.file, "turn_v1").some(({ state }) => !ENDED.has(textOf(state))))
    throw new ServeError(
      "conversation-busy",
      `A turn of ${name} has not ended. Serve the bot until it has answered, and stop it with SIGTERM.`,
    );
  if (to === undefined) return;
  let isUsed = false;
  forEachRow(to.file, (table) => (isUsed ||= OUR_TABLE.test(table)));
  if (isUsed)
    throw new ServeError(
      "data-exists",
      `${className} has an agent of this name with a memory of its own. Two memories cannot become one.`,
    );
}

/** Returns the rows of an object that name the conversation by its old address, with the new one. */
function renamedRows(file: string, renamed: Move["renamed"]): RowChange[] {
  const changes: RowChange[] = [];
  forEachRow(file, (table, row) => {
    if (!OUR_TABLE.test(table)) return;
    const values = Object.entries(row).flatMap(([column, value]) => {
      if (typeof value !== "string" || NAMES[table] === column) return [];
      const next = renamed.reduce((text, [old, now]) => withAddress(text, old, now), value);
      return next === value ? [] : [[column, next] as const];
    });
    if (values.length > 0) changes.push({ table, key: row, values: Object.fromEntries(values) });
  });
  return changes;
}

/** Fields of stored JSON that hold an address. */
const FIELDS = ["conversation", "keeper", "speaker"];

function withAddress(text: string, old: string, now: string): string {
  if (text === old) return now;
  const field = (of: string, value: string): string => `"${of}":${JSON.stringify(value)}`;
  return FIELDS.reduce((json, of) => json.replaceAll(field(of, old), () => field(of, now)), text);
}
