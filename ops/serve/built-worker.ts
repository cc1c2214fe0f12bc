import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { readBundle } from "./bundle-files.ts";
import { ServeError } from "./serve-error.ts";
import { parseJsonc, parseWorkerConfig } from "./worker-config.ts";
import type { WorkerConfig } from "./worker-config.ts";
import type { WorkerBundle } from "./worker-bundle.ts";

/** Describes a folder that `switchboard build` wrote. */
const MANIFEST = "switchboard.json";

const FORMAT = 1;

const manifestSchema = z.object({
  format: z.number(),
  /** The bot's wrangler configuration. */
  configuration: z.record(z.string(), z.unknown()),
});

/**
 * Writes a worker into a folder, from which `switchboard serve` runs it without its sources. Files of an earlier build
 * are removed.
 *
 * @throws {ServeError} `not-a-build` if the folder holds something else
 */
export async function writeBuiltWorker(
  folder: string,
  {
    bundle,
    configurationText,
  }: { readonly bundle: Pick<WorkerBundle, "files">; readonly configurationText: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const present = await readdir(folder);
  if (present.length > 0 && !present.includes(MANIFEST)) {
    throw new ServeError(
      "not-a-build",
      `${folder} is not empty, and no build of Switchboard. Name another folder, or remove it.`,
    );
  }
  for (const name of present) await rm(path.join(folder, name), { recursive: true });
  for (const [name, content] of bundle.files) await writeFile(path.join(folder, name), content);
  const configuration = parseJsonc(configurationText, "the configuration");
  // Last: a folder without it is an unfinished build.
  await writeFile(
    path.join(folder, MANIFEST),
    `${JSON.stringify({ format: FORMAT, configuration }, null, 2)}\n`,
  );
}

/** Reads the folder of a build. Returns undefined for any other folder. */
export async function readBuiltWorker(
  folder: string,
): Promise<{ readonly config: WorkerConfig; readonly files: WorkerBundle["files"] } | undefined> {
  const file = path.join(folder, MANIFEST);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const manifest = manifestSchema.safeParse(parseJsonc(text, file));
  if (!manifest.success || manifest.data.format !== FORMAT) {
    throw new ServeError(
      "build-unreadable",
      `${file} was written by another version of Switchboard. Build the bot again with this one: switchboard build`,
    );
  }
  const config = parseWorkerConfig(JSON.stringify(manifest.data.configuration), file);
  return { config, files: await readBundle(folder) };
}
