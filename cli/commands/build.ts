import path from "node:path";
import { Command } from "commander";
import { readConfiguration } from "../../ops/serve/bot-source.ts";
import { ENTRY } from "../../ops/serve/bundle-files.ts";
import { writeBuiltWorker } from "../../ops/serve/built-worker.ts";
import { namesModel, SET_A_MODEL } from "../../ops/serve/model-setting.ts";
import { shortPath } from "../../ops/serve/short-path.ts";
import { bundleWorker } from "../../ops/serve/worker-bundle.ts";
import type { WorkerBundle } from "../../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../../ops/serve/worker-config.ts";
import { environmentOf } from "../bot-folder.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Options {
  readonly config: string;
  readonly out: string;
  readonly json?: boolean;
}

/** `switchboard build`: the bot in one folder, for `switchboard serve`. */
export function buildCommand(io: CommandIo): Command {
  return new Command("build")
    .description("write the bot into one folder, which `switchboard serve` runs")
    .option("-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc")
    .option("-o, --out <folder>", "the folder to write", "build")
    .action(async (options: Options) => {
      const configFile = path.resolve(io.folder, options.config);
      const folder = path.resolve(io.folder, options.out);
      const configurationText = await readConfiguration(configFile);
      const config = parseWorkerConfig(configurationText, options.config);
      const report = createReport(io, options);
      const bundle = await bundleWorker(configFile, config);
      if (config.unsupported.length > 0) report.say(`left out: ${config.unsupported.join(", ")}`);
      for (const warning of bundle.warnings) report.say(warning);
      const { values } = await environmentOf(io, options.config);
      if (readsModel(bundle) && !namesModel(values, config))
        report.say(`No model is set here. ${SET_A_MODEL}`);
      await writeBuiltWorker(folder, { bundle, configurationText });
      const bytes = bundle.files.get(ENTRY)?.byteLength ?? 0;
      report.result({ folder, bytes, warnings: bundle.warnings }, [
        `Built ${config.name} into ${shortPath(folder)} (${(bytes / 1024).toFixed(0)} KiB). Run it with: switchboard serve ${shortPath(folder)}`,
      ]);
    });
}

/** Whether a bot takes its model from the variables. Its bundle has the error of `modelFromEnv` then. */
function readsModel({ files }: WorkerBundle): boolean {
  return Buffer.from(files.get(ENTRY) ?? []).includes("model-not-set");
}
