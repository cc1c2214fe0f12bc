import { existsSync } from "node:fs";
import path from "node:path";
import { ServeError } from "../serve/serve-error.ts";
import { otherBotServed, wasServed } from "./bot-names.ts";

/**
 * Returns the folder of a bot's storage: `DATA_DIR`, or `.data` beside the bot's configuration, so that two bots never
 * share one by accident. Without a configuration it is `.data` in the current folder. A bot whose storage is there since
 * it was served from there keeps it. Two configurations in one folder share nothing without being told so: the second
 * one needs `DATA_DIR`.
 *
 * @param place.folder the current folder, and the base of a relative `DATA_DIR`
 * @param place.configFile absolute path. A build has none
 * @throws {ServeError} `data-of-other-bot` if the folder has the data of another configuration beside this one
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
  if (!existsSync(own) && (await wasServed(here, configFile))) return here;
  const other = await otherBotServed(own, configFile);
  if (other === undefined) return own;
  const [name, otherName] = [path.basename(configFile), path.basename(other)];
  throw new ServeError(
    "data-of-other-bot",
    `${own} has the memory of the bot of ${otherName}, and ${name} is beside it. To give the bot of ${name} a memory of its own, set DATA_DIR to another folder, such as DATA_DIR=.data-${path.parse(name).name}. If both files are for the same bot, set DATA_DIR=${own}.`,
  );
}
