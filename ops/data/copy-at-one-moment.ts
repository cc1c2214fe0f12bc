import { constants, copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { readControl } from "../serve/control-file.ts";
import { lockDataDirectory } from "../serve/data-lock.ts";
import { ServeError } from "../serve/serve-error.ts";
import { whileStandingStill } from "./stand-still.ts";

/** A bot that crashes again and again is started again in between. */
const ATTEMPTS = 5;

/** The ending of SQLite's index of its log. It is not copied: SQLite makes it again when the database is opened. */
const SHARED_MEMORY = ".sqlite-shm";

/**
 * Copies the files of all objects as they are at one moment, with what SQLite has not yet moved from its logs. A bot that
 * runs stands still meanwhile, for about a second for each gigabyte, or shorter where the file system shares blocks. A
 * webhook that arrives then is answered a moment later.
 *
 * @throws {ServeError} `data-in-use` if the bot is just starting; `process-not-stopped`
 */
export async function copyAtOneMoment(dataDirectory: string, target: string): Promise<void> {
  const copy = (): void => copyObjects(path.join(dataDirectory, "objects"), target);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const running = await readControl(dataDirectory);
    if (running === undefined) {
      const lock = await lockDataDirectory(dataDirectory);
      try {
        copy();
      } finally {
        await new Promise((resolve) => lock.close(resolve));
      }
      return;
    }
    const { workerdPid } = running;
    if (workerdPid !== undefined && (await whileStandingStill(workerdPid, copy))) return;
  }
  throw new ServeError(
    "data-in-use",
    `The bot on ${dataDirectory} does not run for long enough to be copied. See its log, or stop it, and try again.`,
  );
}

function copyObjects(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith(SHARED_MEMORY)) continue;
    const folder = path.join(to, path.relative(from, entry.parentPath));
    mkdirSync(folder, { recursive: true });
    copyFileSync(
      path.join(entry.parentPath, entry.name),
      path.join(folder, entry.name),
      constants.COPYFILE_FICLONE,
    );
  }
}
