/** Builds bots for tests and measurements, each once. */
import { existsSync, rmSync } from "node:fs";
import { appendFile, cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { demoScript } from "../../playground/demo-model/demo-script.ts";
import { readConfiguration } from "../../ops/serve/bot-source.ts";
import { ENTRY } from "../../ops/serve/bundle-files.ts";
import { writeBuiltWorker } from "../../ops/serve/built-worker.ts";
import { bundleWorker } from "../../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../../ops/serve/worker-config.ts";
import { bundleTogether } from "./bundle-together.ts";

/** Variable that names a folder for the builds of several processes. Without it each process builds for itself. */
export const SHARED_BUILDS = "SHARED_BUILDS";

const LOOK_AGAIN_MS = 100;

let own: Promise<string> | undefined;

export interface BuiltBotOptions {
  /** Whether the demo model is in the build, as `switchboard dev` has it. */
  readonly withDemo: boolean;
  /** Modules that stand for others in this build, besides those of the configuration. */
  readonly alias?: Readonly<Record<string, string>> | undefined;
}

/** Returns the folder of the bot's build, which is made at the first request. The sources may not change meanwhile. */
export async function builtBot(configFile: string, options: BuiltBotOptions): Promise<string> {
  const folder = await folderOf(configFile, options);
  while (!existsSync(folder)) {
    if (await isClaimed(claimOf(folder))) {
      await delay(LOOK_AGAIN_MS);
      continue;
    }
    try {
      if (!existsSync(folder)) await build(configFile, folder, options);
    } finally {
      await rm(claimOf(folder), { recursive: true });
    }
  }
  return folder;
}

/**
 * Makes the builds of several bots at once, without the demo and without source maps. The modules that they share, nearly
 * all, are parsed only once. If one of them cannot be bundled, none is made: `builtBot` then says why.
 */
export async function buildTogether(configFiles: readonly string[]): Promise<void> {
  const bots = await Promise.all(
    configFiles.map(async (configFile) => {
      const configurationText = await readConfiguration(configFile);
      const config = parseWorkerConfig(configurationText, configFile);
      return {
        configFile,
        configurationText,
        config,
        folder: await folderOf(configFile, { withDemo: false }),
      };
    }),
  );
  const claimed = [];
  for (const bot of bots) if (!(await isClaimed(claimOf(bot.folder)))) claimed.push(bot);
  try {
    const bundles = await bundleTogether(claimed);
    await Promise.all(
      claimed.map(async ({ configurationText, folder }, index) => {
        const files = bundles?.[index];
        if (files === undefined) return;
        await writeBuiltWorker(`${folder}.unfinished`, { bundle: { files }, configurationText });
        await rename(`${folder}.unfinished`, folder);
      }),
    );
  } finally {
    await Promise.all(claimed.map(({ folder }) => rm(claimOf(folder), { recursive: true })));
  }
}

async function folderOf(configFile: string, { alias = {}, withDemo }: BuiltBotOptions): Promise<string> {
  const builds = process.env[SHARED_BUILDS] ?? (await (own ??= ownFolder()));
  const name = createHash("sha256")
    .update(`${configFile} ${withDemo} ${JSON.stringify(alias)}`)
    .digest("hex")
    .slice(0, 16);
  return path.join(builds, name);
}

function claimOf(folder: string): string {
  return `${folder}.claim`;
}

/** Whether somebody else builds it. Else the caller does now. */
async function isClaimed(claim: string): Promise<boolean> {
  return mkdir(claim).then(
    () => false,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return true;
      throw error;
    },
  );
}

/** The folder is there only when it is whole. The demo stands behind the build without it. */
async function build(
  configFile: string,
  folder: string,
  { alias, withDemo }: BuiltBotOptions,
): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  if (withDemo) {
    await cp(await builtBot(configFile, { alias, withDemo: false }), unfinished, { recursive: true });
    await appendFile(path.join(unfinished, ENTRY), `\n${await demoScript({ canCall: false })}`);
  } else {
    const configurationText = await readConfiguration(configFile);
    const config = parseWorkerConfig(configurationText, configFile);
    const bundle = await bundleWorker(configFile, { ...config, alias: { ...config.alias, ...alias } });
    await writeBuiltWorker(unfinished, { bundle, configurationText });
  }
  await rename(unfinished, folder);
}

/** Is removed when this process ends. */
async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-builds-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
