import { existsSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ServeError } from "../serve/serve-error.ts";
import { writeAtomically } from "../serve/write-atomically.ts";
import { classFolders } from "./object-store.ts";

const NAME = "bots.json";

const botsSchema = z.object({
  /** The name of the bot that was last served from a configuration, by its path. */
  configurations: z.record(z.string(), z.string()).default({}),
  /** The name under which a bot's data is stored, by its name today. */
  storedAs: z.record(z.string(), z.string()).default({}),
});

type Bots = Readonly<z.infer<typeof botsSchema>>;

/**
 * Returns the name under which a bot's data is stored, and notes the bot. That is its own name, unless the data was
 * moved to it.
 *
 * @throws {ServeError} `name-changed` if the configuration had another name before and this one has no data, because
 * the bot would begin with an empty memory
 */
export async function storedName(dataDirectory: string, configFile: string, name: string): Promise<string> {
  const bots = await readBots(dataDirectory);
  const stored = bots.storedAs[name] ?? name;
  const before = bots.configurations[configFile];
  const folders = classFolders(path.join(dataDirectory, "objects"));
  const hasData = (bot: string): boolean => folders.some((folder) => folder.startsWith(`${bot}-`));
  const storedBefore = before === undefined ? undefined : (bots.storedAs[before] ?? before);
  if (storedBefore !== undefined && storedBefore !== stored && !hasData(stored) && hasData(storedBefore)) {
    throw new ServeError(
      "name-changed",
      `The bot is now called "${name}" in its configuration, and its data is stored under "${before}". To keep its memory, run: switchboard data move ${before} ${name}. To begin with an empty memory, set DATA_DIR to another folder.`,
    );
  }
  if (before !== name) {
    await writeBots(dataDirectory, {
      ...bots,
      configurations: { ...bots.configurations, [configFile]: name },
    });
  }
  return stored;
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
 * Gives the data of one bot to another name. No file moves, because the ids of all objects are made from the old name.
 *
 * @throws {ServeError} if there is no such data, or the new name has data of its own
 */
export async function moveData(dataDirectory: string, from: string, to: string): Promise<void> {
  const bots = await readBots(dataDirectory);
  const stored = bots.storedAs[from] ?? from;
  const folders = classFolders(path.join(dataDirectory, "objects"));
  if (!folders.some((folder) => folder.startsWith(`${stored}-`))) {
    throw new ServeError("no-data", `No data of a bot named "${from}" is stored in ${dataDirectory}.`);
  }
  if (folders.some((folder) => folder.startsWith(`${to}-`)) && stored !== to) {
    throw new ServeError(
      "data-exists",
      `The bot "${to}" has data of its own in ${dataDirectory}. Choose another name.`,
    );
  }
  const { [from]: _moved, ...others } = bots.storedAs;
  await writeBots(dataDirectory, { ...bots, storedAs: { ...others, [to]: stored } });
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
