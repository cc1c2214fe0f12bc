import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { ServeError } from "../serve/serve-error.ts";
import { copyAtOneMoment } from "./copy-at-one-moment.ts";
import { asideOf, completeAlarms, copyDatabase, faultsIn } from "./object-store.ts";

const MANIFEST = "manifest.json";
/** Grows when an older `restore` could not read a backup. */
const FORMAT = 1;

const manifestSchema = z.object({
  format: z.number(),
  createdAt: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

/**
 * Copies the data of a bot into a new folder, while the bot runs. All objects are copied at the same moment: a restore
 * is the same as a restart after a crash at that moment.
 *
 * @throws {ServeError} if there is no data, or the folder has files already
 */
export async function backUp(dataDirectory: string, target: string, now: () => number): Promise<Manifest> {
  const objects = path.join(dataDirectory, "objects");
  const names = await databasesIn(objects);
  if (names.length === 0) throw new ServeError("no-data", `There is no data in ${dataDirectory}.`);
  await refuseFull(target);
  const draft = `${target}.part`;
  const raw = `${target}.raw`;
  for (const folder of [draft, raw]) await rm(folder, { recursive: true, force: true });
  try {
    await copyAtOneMoment(dataDirectory, raw);
    for (const name of await databasesIn(raw)) {
      const to = path.join(draft, "objects", name);
      await mkdir(path.dirname(to), { recursive: true });
      copyDatabase(path.join(raw, name), to);
    }
    completeAlarms(path.join(draft, "objects"));
    const bots = await readFile(path.join(dataDirectory, "bots.json")).catch(() => undefined);
    if (bots !== undefined) await writeFile(path.join(draft, "bots.json"), bots);
    const files = await Promise.all(
      (await filesIn(draft)).map(async (name) => {
        const file = path.join(draft, name);
        return { path: name, bytes: (await stat(file)).size, sha256: await hashOf(file) };
      }),
    );
    const manifest: Manifest = { format: FORMAT, createdAt: new Date(now()).toISOString(), files };
    await writeFile(path.join(draft, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
    return manifest;
  } finally {
    for (const folder of [draft, raw]) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Checks a backup: that every file is there and unchanged, and that SQLite finds each one whole.
 *
 * @throws {ServeError} `backup-damaged`, `backup-unreadable`
 */
export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  for (const file of manifest.files) {
    const full = path.join(folder, file.path);
    if (path.relative(folder, full).startsWith("..")) throw damaged(file.path, "is outside of the backup");
    const hash = await hashOf(full).catch(() => undefined);
    if (hash === undefined) throw damaged(file.path, "is missing");
    if (hash !== file.sha256) throw damaged(file.path, "was changed");
    const [fault] = file.path.endsWith(".sqlite") ? faultsIn(full) : [];
    if (fault !== undefined) throw damaged(file.path, `is not whole: ${fault}`);
  }
  return manifest;
}

/**
 * Puts a backup in the place of the data. The bot must not run. Data that is there moves aside, so nothing is lost.
 * Returns where it moved to.
 *
 * @throws {ServeError} if the backup is damaged; the data then stays as it is
 */
export async function restoreBackup(
  folder: string,
  dataDirectory: string,
  now: () => number,
): Promise<string | undefined> {
  await verifyBackup(folder);
  const objects = path.join(dataDirectory, "objects");
  const draft = path.join(dataDirectory, "objects.restoring");
  await rm(draft, { recursive: true, force: true });
  await mkdir(dataDirectory, { recursive: true });
  await cp(path.join(folder, "objects"), draft, { recursive: true });
  const isThere = (await databasesIn(objects)).length > 0;
  const aside = asideOf(objects, now);
  if (isThere) await rename(objects, aside);
  else await rm(objects, { recursive: true, force: true });
  await rename(draft, objects);
  await cp(path.join(folder, "bots.json"), path.join(dataDirectory, "bots.json")).catch(ignoreMissing);
  return isThere ? aside : undefined;
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(path.join(folder, MANIFEST), "utf8").catch(() => undefined);
  const parsed = text === undefined ? undefined : manifestSchema.safeParse(parseJson(text));
  if (parsed?.success !== true) {
    throw new ServeError("backup-unreadable", `${folder} is not a backup: it has no readable ${MANIFEST}.`);
  }
  if (parsed.data.format > FORMAT) {
    throw new ServeError(
      "backup-newer",
      `${folder} was made by a newer version of Switchboard. Install that version, or a newer one.`,
    );
  }
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not a manifest.
    return undefined;
  }
}

function damaged(file: string, how: string): ServeError {
  return new ServeError("backup-damaged", `The backup is damaged: ${file} ${how}. Use another backup.`);
}

async function refuseFull(folder: string): Promise<void> {
  const existing = await readdir(folder).catch(() => []);
  if (existing.length === 0) return;
  throw new ServeError("folder-not-empty", `${folder} has files already. Name a new folder.`);
}

async function databasesIn(objects: string): Promise<string[]> {
  return (await filesIn(objects)).filter((name) => name.endsWith(".sqlite"));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
