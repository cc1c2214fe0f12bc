import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { shortPath } from "./short-path.ts";
import { ServeError } from "./serve-error.ts";
import { parseJsonc } from "./worker-config.ts";

/** Result of a wrangler build, from its metadata. */
export interface WranglerBuild {
  /** Absolute paths of the sources. They include virtual modules, which have no file. */
  readonly inputs: readonly string[];
  /** File name of the entry in the output folder. */
  readonly entry: string;
  /** Names that the entry exports. */
  readonly exports: readonly string[];
  /** Sentences about certain mistakes in the sources that do not stop the build. */
  readonly warnings: readonly string[];
}

/**
 * Bundles a worker into `directory`, which must exist and be empty.
 *
 * Nothing else is written. wrangler puts temporary files beside the configuration, which may belong to another user, so
 * it works in a folder of links to the real project.
 *
 * @throws {ServeError} when the worker cannot be bundled
 */
export async function runWrangler(configFile: string, directory: string): Promise<WranglerBuild> {
  const project = path.join(directory, ".project");
  const home = path.join(directory, ".home");
  const config = await linkProject(configFile, project);
  await mkdir(home);
  const parameters = ["deploy", "--dry-run", "--outdir", directory, "--metafile", "--config", config];
  const output = await runToEnd([wranglerProgram(), ...parameters], {
    cwd: project,
    env: { ...offlineEnvironment(), ...elsewhere(home) },
    failure: `The worker of ${configFile} could not be bundled`,
  });
  const metadata = JSON.parse(await readFile(path.join(directory, "bundle-meta.json"), "utf8")) as {
    inputs: Record<string, unknown>;
    outputs: Record<string, { exports?: string[] }>;
  };
  const [file, built] = Object.entries(metadata.outputs).find(([name]) => name.endsWith(".js")) ?? [];
  if (file === undefined || built === undefined)
    throw new ServeError("bundle", "The bundle has no entry; this is a fault of the build.");
  return {
    inputs: Object.keys(metadata.inputs).map((input) => path.resolve(project, input)),
    entry: path.basename(file),
    exports: built.exports ?? [],
    warnings: duplicatesIn(stripVTControlCharacters(output)),
  };
}

/** Finds objects with two entries of one name. JavaScript keeps the last one, so a messenger would be lost silently. */
function duplicatesIn(output: string): string[] {
  const pattern = /Duplicate key "([^"\n]+)" in object literal \[duplicate-object-key\]\s+(\S+:\d+):\d+:/g;
  return [...output.matchAll(pattern)].map(
    ([, name, place = ""]) =>
      `"${name}" stands twice in one object, and the first one is lost: ${path.basename(place)}`,
  );
}

/** Creates a folder that looks like the configuration's folder. Returns the path of the configuration in it. */
async function linkProject(configFile: string, project: string): Promise<string> {
  const folder = path.dirname(configFile);
  await mkdir(project);
  const names = (await readdir(folder)).filter((name) => name !== ".wrangler" && !isConfiguration(name));
  for (const name of names) await symlink(path.join(folder, name), path.join(project, name));
  const document = parseJsonc(await readFile(configFile, "utf8"), path.basename(configFile)) as {
    main?: unknown;
  };
  // Imports of the entry are relative to its real folder.
  const main = typeof document.main === "string" ? path.resolve(folder, document.main) : document.main;
  const copy = path.join(project, "wrangler.json");
  await writeFile(copy, JSON.stringify({ ...document, main }));
  return copy;
}

function isConfiguration(name: string): boolean {
  return /^wrangler\.(?:jsonc?|toml)$/.test(name);
}

function wranglerProgram(): string {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  return path.join(path.dirname(manifest), "bin/wrangler.js");
}

function runToEnd(
  parameters: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly failure: string },
): Promise<string> {
  const { failure, ...rest } = options;
  const child = spawn(process.execPath, parameters, { ...rest, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      // The caller knows which folder that is and names it.
      else if (/ENOSPC|no space left/i.test(output))
        reject(Object.assign(new Error(failure), { code: "ENOSPC" }));
      else reject(new ServeError("bundle", `${failure}:\n${readable(output, options.cwd)}`));
    });
  });
}

/** Returns wrangler's output without colours, with the real paths of the sources. */
function readable(output: string, project: string): string {
  return (
    stripVTControlCharacters(output)
      // The log file is removed with the rest of the build.
      .replace(/^.*Logs were written to.*$/gm, "")
      .replace(/(?:\.\.\/)+[^\s:]+/g, (place) => shortPath(path.resolve(project, place)))
      .trim()
  );
}

/** Returns the environment in which wrangler makes no network requests. */
export function offlineEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    X_LOCAL_OBSERVABILITY: "false",
    X_LOCAL_EXPLORER: "false",
  };
}

/**
 * Returns variables that keep wrangler's logs and settings out of the home folder, which a service user may not have.
 */
function elsewhere(home: string): NodeJS.ProcessEnv {
  return { HOME: home, XDG_CONFIG_HOME: home, WRANGLER_LOG_PATH: home, WRANGLER_CACHE_DIR: home };
}
