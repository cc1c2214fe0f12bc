import { existsSync, realpathSync, statSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ServeError } from "../serve/serve-error.ts";
import { writeAtomically } from "../serve/write-atomically.ts";
import { asideOf, classFolders, listObjects, rowsOf } from "./object-store.ts";

const NAME = "bots.json";

/** Tables that have a row as soon as somebody has written to a bot. */
const MESSAGE_TABLES = ["directory_v2", "inbox_v1", "prompt_v1", "reply_v1"];

const botsSchema = z.object({
  /** The name of the bot that was last served from a configuration, by its path. */
  configurations: z.record(z.string(), z.string()).default({}),
  /** The name under which a bot's data is stored, by its name today. */
  storedAs: z.record(z.string(), z.string()).default({}),
  /** Bots that were said to be new, beside the data of others. */
  newBots: z.array(z.string()).default([]),
});

type Bots = Readonly<z.infer<typeof botsSchema>>;

/**
 * Returns the name under which a bot's data is stored, and notes the bot. That is its own name, unless the data was
 * moved to it. It does not depend on the place of the bot, because each release may be in a folder of its own.
 *
 * @param isNew whether the bot is another one than those that have data here. The answer is stored with the data
 * @throws {ServeError} `name-changed` if only other names have data here, and the bot was never said to be new. It may be
 * one of them under a new name, and would begin with an empty memory
 */
export async function storedName(
  dataDirectory: string,
  configFile: string,
  name: string,
  isNew = false,
): Promise<string> {
  const bots = await readBots(dataDirectory);
  const stored = bots.storedAs[name] ?? name;
  const present = namesWithData(dataDirectory);
  const isAsked = present.size > 0 && !present.has(stored) && !bots.newBots.includes(name);
  if (isAsked && !isNew) throw nameChanged(dataDirectory, name, namesOfToday(bots, present));
  if (isAsked || bots.configurations[configFile] !== name) {
    await writeBots(dataDirectory, {
      ...bots,
      configurations: { ...bots.configurations, [configFile]: name },
      newBots: isAsked ? [...bots.newBots, name] : bots.newBots,
    });
  }
  return stored;
}

function nameChanged(dataDirectory: string, name: string, others: readonly string[]): ServeError {
  const moves = others.map((other) => `switchboard data move ${other} ${name}`).join(", or: ");
  const named = others.map((other) => `"${other}"`).join(" and ");
  return new ServeError(
    "name-changed",
    `${dataDirectory} has the data of ${named}, and none of "${name}". If that is the same bot under a new name, keep its memory: ${moves}. If "${name}" is another bot, start it once with --new-bot: it begins with an empty memory.`,
  );
}

/** Returns the names under which data is stored. A folder without a hyphen belongs to no bot. */
function namesWithData(dataDirectory: string): ReadonlySet<string> {
  const folders = classFolders(path.join(dataDirectory, "objects"));
  return new Set(folders.filter((folder) => folder.includes("-")).map(botOf));
}

/** Returns the name of the bot in `<bot>-<class>`. The name of a class has no hyphen, and that of a bot may. */
function botOf(classFolder: string): string {
  return classFolder.slice(0, classFolder.lastIndexOf("-"));
}

/** Returns the names that the bots have today, sorted. */
function namesOfToday({ storedAs }: Bots, stored: ReadonlySet<string>): string[] {
  const moved = Object.entries(storedAs);
  return [...stored].map((name) => moved.find(([, as]) => as === name)?.[0] ?? name).toSorted();
}

/** Tells whether the bot of a configuration was served with this storage. */
export async function wasServed(dataDirectory: string, configFile: string): Promise<boolean> {
  const { configurations } = await readBots(dataDirectory);
  return Object.hasOwn(configurations, configFile);
}

/**
 * Finds the configuration beside this one whose bot was served with this storage. Undefined if there is none, or if the
 * bot of this one was served with it, too.
 */
export async function otherBotServed(dataDirectory: string, configFile: string): Promise<string | undefined> {
  const { configurations } = await readBots(dataDirectory);
  if (Object.hasOwn(configurations, configFile)) return undefined;
  return Object.keys(configurations).find((file) => isBeside(file, configFile));
}

/** Whether both are files of one folder. A file that was renamed is not there any more, and a build is a folder. */
function isBeside(file: string, configFile: string): boolean {
  if (path.dirname(file) !== path.dirname(configFile) || !existsSync(configFile) || !existsSync(file))
    return false;
  return statSync(file).isFile() && realpathSync(file) !== realpathSync(configFile);
}

/**
 * Gives the data of one bot to another name. No file of it moves, because the ids of all objects are made from the old
 * name. If the other name has data to which nobody has written, that moves aside. Returns where it is then.
 *
 * @throws {ServeError} if there is no such data, or the other name has messages of its own
 */
export async function moveData(
  dataDirectory: string,
  from: string,
  to: string,
  now: () => number,
): Promise<string | undefined> {
  const bots = await readBots(dataDirectory);
  const stored = bots.storedAs[from] ?? from;
  const replaced = bots.storedAs[to] ?? to;
  const present = namesWithData(dataDirectory);
  if (!present.has(stored)) {
    throw new ServeError("no-data", `No data of a bot named "${from}" is stored in ${dataDirectory}.`);
  }
  const isReplacing = replaced !== stored && present.has(replaced);
  if (isReplacing && hasMessages(dataDirectory, replaced)) {
    throw new ServeError(
      "data-exists",
      `People have written to the bot "${to}", whose messages are in ${dataDirectory}, too. Two memories cannot become one: choose another name, or move that one first (switchboard data move ${to} <another name>).`,
    );
  }
  const aside = isReplacing ? await moveAside(dataDirectory, replaced, now) : undefined;
  const { [from]: _moved, ...others } = bots.storedAs;
  await writeBots(dataDirectory, { ...bots, storedAs: { ...others, [to]: stored } });
  return aside;
}

/** Tells whether anybody has written to a bot. An object that is not of this product may hold anything. */
function hasMessages(dataDirectory: string, stored: string): boolean {
  return listObjects(path.join(dataDirectory, "objects"))
    .filter(({ classKey }) => botOf(classKey) === stored)
    .some(
      ({ file, name }) =>
        name === undefined ||
        name.includes("/") ||
        MESSAGE_TABLES.some((table) => rowsOf(file, table).length > 0),
    );
}

async function moveAside(dataDirectory: string, stored: string, now: () => number): Promise<string> {
  const objects = path.join(dataDirectory, "objects");
  const aside = asideOf(objects, now);
  await mkdir(aside, { recursive: true });
  for (const folder of classFolders(objects)) {
    if (botOf(folder) === stored) await rename(path.join(objects, folder), path.join(aside, folder));
  }
  return aside;
}

async function readBots(dataDirectory: string): Promise<Bots> {
  const text = await readFile(path.join(dataDirectory, NAME), "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "{}";
    throw error;
  });
  return botsSchema.parse(JSON.parse(text));
}

async function writeBots(dataDirectory: string, bots: Bots): Promise<void> {
  await writeAtomically(path.join(dataDirectory, NAME), `${JSON.stringify(bots, undefined, 1)}\n`);
}
