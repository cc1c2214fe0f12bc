import { access, constants, mkdir, statfs } from "node:fs/promises";
import path from "node:path";
import { readControl } from "../serve/control-file.ts";
import { isPortFree, parsePort } from "../serve/port.ts";
import { findWorkerd } from "../serve/workerd-binary.ts";
import { ok, problem, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { LEAST_NODE, nodeProblem } from "./node-version.ts";

/** With less free space, storage soon fails. */
const LOW_SPACE_BYTES = 200 * 1024 * 1024;

export function checkNode(version: string): Finding {
  return nodeProblem(version) === undefined
    ? ok("Node", `Node ${version}`)
    : problem(
        "Node",
        `Node ${version} is too old.`,
        `Install Node ${LEAST_NODE} or newer: https://nodejs.org`,
      );
}

export function checkWorkerd(): Finding {
  try {
    findWorkerd();
    return ok("workerd", "The runtime is installed.");
  } catch (error) {
    return problem("workerd", error instanceof Error ? error.message : String(error));
  }
}

/** Checks the port of the bot. It may be in use by the bot itself. */
export async function checkPort(
  environment: Readonly<Record<string, string | undefined>>,
  dataDirectory: string,
): Promise<Finding> {
  const host = environment.HOST || "127.0.0.1";
  let port: number;
  try {
    port = parsePort(environment.PORT || "8787", "PORT");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return problem("port", message, "Set PORT to a number, or leave it out for 8787.");
  }
  if (port === 0 || (await isPortFree(port, host))) return ok("port", `Port ${port} is free.`);
  const control = await readControl(dataDirectory);
  if (control !== undefined && Number(new URL(control.url).port) === port) {
    return ok("port", `Port ${port} is used by the running bot.`);
  }
  return problem(
    "port",
    `Port ${port} on ${host} is used by another program.`,
    "Stop that program, or set PORT to another port.",
  );
}

/** Checks that the bot can write, and has room to write to. */
export async function checkStorage(dataDirectory: string): Promise<Finding> {
  try {
    await mkdir(dataDirectory, { recursive: true });
    await access(dataDirectory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return problem(
      "storage",
      `${dataDirectory} cannot be written (${code}).`,
      "Set DATA_DIR to a folder that this user may write to, or change its owner.",
    );
  }
  const { bavail, bsize } = await statfs(dataDirectory);
  const free = bavail * bsize;
  const words = `${Math.floor(free / 1024 / 1024)} MB are free in ${path.resolve(dataDirectory)}.`;
  return free < LOW_SPACE_BYTES
    ? warning("storage", words, "Free some space. A full disk makes the bot refuse messages.")
    : ok("storage", words);
}
