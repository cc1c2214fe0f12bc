import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { writeAtomically } from "./write-atomically.ts";

/** How other commands on this machine reach the bot that runs on a data directory. */
export interface BotControl {
  readonly url: string;
  /** The server's process. */
  readonly pid: number;
  /** The process that writes the data. */
  readonly workerdPid?: number | undefined;
  readonly adminToken: string;
}

const controlSchema = z.object({
  url: z.string(),
  pid: z.number(),
  workerdPid: z.number().optional(),
  adminToken: z.string(),
});
const NAME = "control.json";

/** Writes the file for this process. Only the user who runs the bot can read it. */
export async function writeControl(dataDirectory: string, control: BotControl): Promise<void> {
  await writeAtomically(path.join(dataDirectory, NAME), JSON.stringify(control), 0o600);
}

export async function removeControl(dataDirectory: string): Promise<void> {
  await rm(path.join(dataDirectory, NAME), { force: true });
}

/** Finds the bot that runs on a data directory. Undefined if none runs there. */
export async function readControl(dataDirectory: string): Promise<BotControl | undefined> {
  const text = await readFile(path.join(dataDirectory, NAME), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // A file of another program.
    return undefined;
  }
  const { data } = controlSchema.safeParse(parsed);
  return data !== undefined && isAlive(data.pid) ? data : undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
