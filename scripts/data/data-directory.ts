import { existsSync } from "node:fs";
import path from "node:path";
import { wasServed } from "./bot-names.ts";

/**
 * Returns the folder of a bot's storage: `DATA_DIR`, or `.data` beside the bot's configuration, so that two bots never
 * share one by accident. Without a configuration it is `.data` in the current folder. A bot whose storage is there since
 * it was served from there keeps it.
 *
 * @param place.folder the current folder, and the base of a relative `DATA_DIR`
 * @param place.configFile absolute path. A build has none
 */
export async function dataDirectoryOf(place: {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly configFile: string | undefined;
}): Promise<string> {
  const { configFile, environment, folder } = place;
  const here = path.resolve(folder, environment["DATA_DIR"] || ".data");
  if (environment["DATA_DIR"] || configFile === undefined) return here;
  const own = path.join(path.dirname(configFile), ".data");
  return !existsSync(own) && (await wasServed(here, configFile)) ? here : own;
}
