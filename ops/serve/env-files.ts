import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { ServeError } from "./serve-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Files with variables of a bot, in its folder. The first one that has a name wins. */
const FILES = [".dev.vars", ".env"] as const;

export interface BotEnvironment {
  /** The variables of the process, and those of the files that the process does not have. */
  readonly values: Record<string, string | undefined>;
  /** Sorted names in the files. The bot gets them all, declared or not. */
  readonly names: readonly string[];
  /** Files that were read. */
  readonly files: readonly string[];
}

/** Returns the paths of the files with a bot's variables, there or not. */
export function variableFilesOf(folder: string): readonly string[] {
  return FILES.map((name) => path.join(folder, name));
}

/**
 * Reads `.dev.vars` and `.env` of a bot's folder. A variable of the process wins over both, even an empty one, and
 * `.dev.vars` wins over `.env`. A missing file is no problem.
 *
 * @throws {ServeError} `env-file-unreadable` if a file is there and cannot be read; no message has a value
 */
export async function readBotEnvironment(folder: string, environment: Environment): Promise<BotEnvironment> {
  const values: Record<string, string | undefined> = { ...environment };
  const names = new Set<string>();
  const files: string[] = [];
  for (const name of FILES) {
    const text = await readText(path.join(folder, name));
    if (text === undefined) continue;
    files.push(name);
    for (const [key, value] of Object.entries(parseEnv(text))) {
      names.add(key);
      values[key] ??= value;
    }
  }
  return { values, names: [...names].toSorted(), files };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ServeError(
      "env-file-unreadable",
      `${file} cannot be read (${code}). Let the user who runs the bot read it, or remove it.`,
    );
  }
}
