import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Lets Node keep what it makes of the command's modules (`NODE_COMPILE_CACHE`), which it does when a process ends. Most
 * bots that tests start are killed. Goes on beside the first tests.
 */
export default function compileCommand(): () => Promise<unknown> {
  const command = spawn(process.execPath, ["cli/main.ts", "--version"], { stdio: "ignore" });
  const ended = once(command, "exit");
  return () => ended;
}
