import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { runWrangler } from "./run-wrangler.ts";
import type { WranglerBuild } from "./run-wrangler.ts";
import { ServeError } from "./serve-error.ts";
import type { BundleModule } from "./workerd-config.ts";

/** A bundle on disk. Modules are named relative to its folder, the entry first. */
export interface Bundle {
  readonly directory: string;
  readonly modules: readonly BundleModule[];
  readonly cached: boolean;
  /** Certain mistakes in the sources, shown at every start. */
  readonly warnings: readonly string[];
}

/** Cache entry of a configuration's latest build. */
const manifestSchema = z.object({
  inputs: z.array(z.string()),
  entry: z.string(),
  warnings: z.array(z.string()),
});
type Manifest = Readonly<z.infer<typeof manifestSchema>>;

const MODULE_TYPES: Readonly<Record<string, BundleModule["type"]>> = {
  ".js": "esModule",
  ".mjs": "esModule",
  ".wasm": "wasm",
  ".txt": "text",
  ".html": "text",
  ".sql": "text",
  ".md": "text",
  ".bin": "data",
};

/** Time after which unused bundles are removed from the cache. */
const KEEP_BUNDLES_MS = 24 * 60 * 60 * 1000;

/**
 * Bundles a worker with `wrangler deploy --dry-run`. If neither its sources nor the installed packages have changed,
 * returns the bundle of an earlier run.
 *
 * Several runs at once do not disturb each other: a bundle's folder is named after its content, and appears complete.
 *
 * @throws {ServeError} when the worker cannot be bundled
 */
export async function bundleWorker(options: {
  readonly configFile: string;
  readonly root: string;
  readonly cacheDirectory: string;
  readonly onBuild?: () => void;
}): Promise<Bundle> {
  const { configFile, root, cacheDirectory } = options;
  const configKey = createHash("sha256").update(configFile).digest("hex").slice(0, 12);
  const manifestFile = path.join(cacheDirectory, `${configKey}.json`);
  const manifest = await readManifest(manifestFile);
  if (manifest !== undefined) {
    const directory = path.join(
      cacheDirectory,
      `${configKey}-${await hashInputs(manifest.inputs, configFile, root)}`,
    );
    if (existsSync(directory)) return bundleIn(directory, manifest, true);
  }

  options.onBuild?.();
  await mkdir(cacheDirectory, { recursive: true });
  const building = await mkdtemp(path.join(await realpath(cacheDirectory), "building-"));
  try {
    const built = manifestOf(await runWrangler(configFile, building), configFile, root);
    for (const name of [".project", ".home"]) await rm(path.join(building, name), { recursive: true });
    const directory = path.join(
      cacheDirectory,
      `${configKey}-${await hashInputs(built.inputs, configFile, root)}`,
    );
    // Another run may have been faster. Its folder has the same files.
    if (!existsSync(directory)) await rename(building, directory).catch(ignoreExisting);
    await writeAtomically(manifestFile, JSON.stringify(built));
    await removeOldBundles(cacheDirectory, directory);
    return await bundleIn(directory, built, false);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

async function bundleIn(directory: string, { entry, warnings }: Manifest, cached: boolean): Promise<Bundle> {
  return { directory, modules: await listModules(directory, entry), cached, warnings };
}

/** Hashes names and contents, so that a renamed, changed or removed source changes the key. */
export async function hashInputs(
  inputs: readonly string[],
  configFile: string,
  root: string,
): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [configFile, path.join(root, "package-lock.json"), ...inputs]) {
    const content = await readFile(path.resolve(root, file)).catch(ignoreMissing);
    hash.update(`${file}\0${content === undefined ? "missing" : content.length}\0`);
    if (content !== undefined) hash.update(content);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Writes a file so that readers see the complete old file or the complete new one. */
export async function writeAtomically(file: string, content: string, mode = 0o666): Promise<void> {
  const draft = `${file}.${process.pid}.${createHash("sha256").update(content).digest("hex").slice(0, 8)}`;
  await writeFile(draft, content, { mode });
  await rename(draft, file);
}

async function readManifest(file: string): Promise<Manifest | undefined> {
  const content = await readFile(file, "utf8").catch(ignoreMissing);
  // An entry of another version does not match, so the worker is bundled again.
  return content === undefined ? undefined : manifestSchema.safeParse(JSON.parse(content)).data;
}

/**
 * Describes a build for the cache.
 * @throws {ServeError} when the entry exports no worker, about which workerd would print thousands of lines
 */
function manifestOf(build: WranglerBuild, configFile: string, root: string): Manifest {
  const { entry, exports, inputs, warnings } = build;
  if (!exports.includes("default")) {
    const agent = exports.find((name) => /^[A-Z]/.test(name)) ?? "MyBot";
    throw new ServeError(
      "no-default-export",
      `The worker of ${configFile} has no default export, so that it can answer nothing. Add to its entry: export default createWorker(${agent});`,
    );
  }
  // The lock file covers installed packages. Virtual modules have no file.
  const sources = inputs
    .filter((input) => !input.includes("node_modules") && existsSync(input))
    .map((input) => path.relative(root, input));
  return { inputs: sources.toSorted(), entry, warnings: [...warnings] };
}

async function listModules(directory: string, entry: string): Promise<BundleModule[]> {
  const files = await readdir(directory, { recursive: true });
  const modules = files.flatMap((name): BundleModule[] => {
    const type = MODULE_TYPES[path.extname(name)];
    return type === undefined || name === "README.md" ? [] : [{ name, type }];
  });
  return modules.toSorted(
    (a, b) => Number(b.name === entry) - Number(a.name === entry) || (a.name < b.name ? -1 : 1),
  );
}

async function removeOldBundles(cacheDirectory: string, current: string): Promise<void> {
  for (const name of await readdir(cacheDirectory)) {
    const candidate = path.join(cacheDirectory, name);
    const entry = await stat(candidate).catch(ignoreMissing);
    if (candidate === current || entry?.isDirectory() !== true) continue;
    if (Date.now() - entry.mtimeMs > KEEP_BUNDLES_MS) await rm(candidate, { recursive: true, force: true });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
  return undefined;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST" && error.code !== "ENOTEMPTY") throw error;
}
