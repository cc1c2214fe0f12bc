import path from "node:path";
import { readBotEnvironment } from "../ops/serve/env-files.ts";
import type { BotEnvironment } from "../ops/serve/env-files.ts";
import type { CommandIo } from "./command-io.ts";

/** Reads the variables of the bot whose configuration is `config`: those of the process, then of its files. */
export function environmentOf(
  io: Pick<CommandIo, "folder" | "environment">,
  config: string,
): Promise<BotEnvironment> {
  return readBotEnvironment(path.dirname(path.resolve(io.folder, config)), io.environment);
}
