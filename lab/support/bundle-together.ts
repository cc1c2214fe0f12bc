import path from "node:path";
import { build, type BuildResult } from "esbuild";
import { ENTRY } from "../../ops/serve/bundle-files.ts";
import { bundlerOptions } from "../../ops/serve/worker-bundle.ts";
import type { WorkerConfig } from "../../ops/serve/worker-config.ts";

type Built = BuildResult<{ readonly write: false; readonly metafile: true }>;
type Files = ReadonlyMap<string, Uint8Array>;

export interface BotToBundle {
  readonly configFile: string;
  readonly config: WorkerConfig;
}

/**
 * Bundles several bots as `bundleWorker` does each, in a fraction of its time. They get no source maps, which would take
 * a third of the time. Returns their files in the same order, or nothing if one of them cannot be bundled.
 */
export async function bundleTogether(bots: readonly BotToBundle[]): Promise<readonly Files[] | undefined> {
  const bundles: Files[] = [];
  const alike = Map.groupBy(bots.keys(), (index) => {
    const bot = bots[index];
    const { alias, define, keepNames } = bot === undefined ? {} : bundlerOptions(bot.configFile, bot.config);
    return JSON.stringify({ alias, define, keepNames });
  });
  for (const indexes of alike.values()) {
    const built = await bundle(indexes.flatMap((index) => bots[index] ?? [])).catch(() => undefined);
    if (built === undefined) return undefined;
    for (const [at, index] of indexes.entries()) bundles[index] = filesOf(built, at);
  }
  return bundles;
}

/** Bundles bots whose settings are the same. The entries are numbered. */
async function bundle(bots: readonly BotToBundle[]): Promise<Built> {
  const options = bots.map(({ config, configFile }) => bundlerOptions(configFile, config));
  const entries = options.flatMap(({ entryPoints }) => Object.values(entryPoints));
  const entryPoints = Object.fromEntries(entries.map((entry, at) => [numbered(at), entry]));
  return build({ ...options[0], entryPoints, sourcemap: false, write: false, metafile: true });
}

function numbered(at: number): string {
  return `${path.parse(ENTRY).name}-${at}`;
}

/** Returns the files of one entry by the names that they have alone, with those that it imports as they are. */
function filesOf({ metafile, outputFiles }: Built, at: number): Files {
  const own = `${numbered(at)}.js`;
  const imported = metafile.outputs[own]?.imports.map((one) => path.basename(one.path)) ?? [];
  return new Map(
    outputFiles.flatMap((file): [string, Uint8Array][] => {
      const name = path.basename(file.path);
      if (name === own) return [[ENTRY, file.contents]];
      return imported.includes(name) ? [[name, file.contents]] : [];
    }),
  );
}
