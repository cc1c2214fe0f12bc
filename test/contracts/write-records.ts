import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Stage } from "./stage.ts";

/** Variable that names a folder for the records of a run: outcomes, logs of the bots and their calls. */
const RECORDS = "CONTRACT_RECORDS";

/** Writes what happened, for those who look for the reason of an outcome. */
export async function writeRecords(
  name: string,
  outcomes: ReadonlyMap<string, string>,
  stages: readonly Stage[],
): Promise<void> {
  const folder = process.env[RECORDS];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);
  await write(`${name}-outcomes.json`, JSON.stringify(Object.fromEntries(outcomes), null, 2));
  for (const [index, stage] of stages.entries()) {
    await write(`${name}-${index}.log`, stage.bot.logs());
    const calls = stage.server.calls().map((call) => JSON.stringify(call));
    await write(`${name}-${index}-calls.jsonl`, calls.join("\n"));
  }
}
