import { readFile } from "node:fs/promises";
import path from "node:path";
import { readBuiltWorker } from "./built-worker.ts";
import { shortPath } from "./short-path.ts";
import { ServeError } from "./serve-error.ts";
import type { Bundler, WorkerBundle } from "./worker-bundle.ts";
import { parseWorkerConfig } from "./worker-config.ts";
import type { WorkerConfig } from "./worker-config.ts";

/** A worker that is ready to run, and its configuration. */
export interface ReadyWorker {
  readonly config: WorkerConfig;
  readonly files: WorkerBundle["files"];
  /** Name of the file that workerd starts with. @default that of the bundle */
  readonly entry?: string;
  readonly warnings: readonly string[];
  /** Files whose change asks for a new bundle. */
  readonly watched: readonly string[];
}

/** Where a bot comes from: its sources, or a folder that `switchboard build` wrote. */
export interface BotSource {
  /** Path for messages. */
  readonly place: string;
  /** The wrangler configuration of sources. A build has none. */
  readonly configFile: string | undefined;
  /**
   * Reads or makes the worker. Sources are bundled again with each call.
   *
   * @param onBundle called before a bundle is made
   */
  load(onBundle?: () => void): Promise<ReadyWorker>;
  /** Files that the last call of `load` has looked for, also if it failed. */
  lookedFor(): readonly string[];
  close(): Promise<void>;
}

/** A bot from a build needs no bundler, and starts faster without it. */
const loadBundler = () => import("./worker-bundle.ts");

/**
 * Bundles the worker of a wrangler configuration once, for a process that keeps nothing of the bundler while it serves.
 */
export function fromSourcesOnce(configFile: string): BotSource {
  const source = fromSources(configFile);
  return {
    ...source,
    async load(onBundle) {
      const worker = await source.load(onBundle);
      await source.close();
      const { endBundler } = await loadBundler();
      await endBundler();
      return worker;
    },
  };
}

/** Bundles the worker of a wrangler configuration. */
export function fromSources(configFile: string): BotSource {
  let current: { readonly text: string; readonly bundler: Bundler } | undefined;
  const close = async (): Promise<void> => {
    await current?.bundler.close();
    current = undefined;
  };
  return {
    place: configFile,
    configFile,
    async load(onBundle) {
      const text = await readConfiguration(configFile);
      const config = parseWorkerConfig(text, path.relative(process.cwd(), configFile));
      onBundle?.();
      if (current?.text !== text) {
        await close();
        const { createBundler } = await loadBundler();
        current = { text, bundler: await createBundler(configFile, config) };
      }
      const { files, sources, warnings } = await current.bundler.bundle();
      const watched = [configFile, ...sources];
      return { config, files, warnings, watched };
    },
    lookedFor: () => [configFile, ...(current?.bundler.lookedFor() ?? [])],
    close,
  };
}

/** Reads a folder that `switchboard build` wrote. Returns undefined for any other folder. */
export async function fromBuild(folder: string): Promise<BotSource | undefined> {
  const built = await readBuiltWorker(folder);
  if (built === undefined) return undefined;
  return {
    place: folder,
    configFile: undefined,
    load: () => Promise.resolve({ ...built, warnings: [], watched: [] }),
    lookedFor: () => [],
    close: () => Promise.resolve(),
  };
}

/** @throws {ServeError} `bad-config` if the file cannot be read */
export async function readConfiguration(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new ServeError(
        "bad-config",
        `There is no ${shortPath(file)}. Go to the folder of your bot, or name its configuration with --config. To write a new bot: switchboard init my-bot`,
      );
    }
    throw new ServeError("bad-config", `The configuration cannot be read: ${reason}`);
  }
}
