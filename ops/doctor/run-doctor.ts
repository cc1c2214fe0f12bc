import path from "node:path";
import { dataDirectoryOf } from "../data/data-directory.ts";
import { readBotEnvironment } from "../serve/env-files.ts";
import { checkNode, checkPort, checkStorage, checkWorkerd } from "./check-machine.ts";
import { checkBot, checkModel, checkTelegram } from "./check-services.ts";
import { checkConfiguration, checkEnvFiles, checkVariables } from "./check-settings.ts";
import { checkModelPackage, packagesOf } from "./check-packages.ts";
import { checkPlatforms } from "./check-platforms.ts";
import type { Finding } from "./finding.ts";

export interface DoctorOptions {
  readonly configFile: string;
  /** Base of a relative DATA_DIR. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Address of a running bot. Undefined: the one on this data directory. */
  readonly url: string | undefined;
  readonly nodeVersion: string;
  readonly now: () => number;
}

/** Looks at everything that a bot needs, and changes nothing. */
export async function runDoctor(options: DoctorOptions): Promise<readonly Finding[]> {
  const folder = path.dirname(options.configFile);
  const { files, values } = await readBotEnvironment(folder, options.environment);
  const packages = packagesOf(folder);
  const dataDirectory = await dataDirectoryOf({ ...options, environment: values });
  const [configuration, envFiles, port, storage, telegram, platforms, model, bot] = await Promise.all([
    checkConfiguration(options.configFile),
    checkEnvFiles(folder, files),
    checkPort(values, dataDirectory),
    checkStorage(dataDirectory),
    checkTelegram(values, options.now),
    checkPlatforms(values, packages),
    checkModel(values, options.configFile),
    checkBot(options.url, dataDirectory),
  ]);
  const modelPackage = checkModelPackage(values, folder);
  return [
    checkNode(options.nodeVersion),
    checkWorkerd(),
    configuration,
    ...envFiles,
    ...checkVariables(values, packages),
    port,
    storage,
    ...(modelPackage === undefined ? [] : [modelPackage]),
    model,
    ...telegram,
    ...platforms,
    ...bot,
  ];
}
