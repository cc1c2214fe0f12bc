/**
 * `npm run closures`: counts the functions of the product that only pass their arguments on
 * (`scripts/lint/forwarding.js`), and fails above a limit. `-- --list` names them.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root, tool } from "./run-step.ts";

/** Most closures. A feature that needs another one uses a named interface instead. */
const MOST = 80;

const [command, ...first] = [tool("oxlint")].flat();
const config = path.join(root, "scripts/lint/closures.json");
const { stdout } = spawnSync(
  command ?? "oxlint",
  [...first, "-c", config, "-f", "unix", "src", "delivery", "providers"],
  { cwd: root, encoding: "utf8" },
);
const found = stdout.split("\n").filter((line) => line.includes("forwarding(closure)"));
if (process.argv.includes("--list")) process.stdout.write(`${found.join("\n")}\n`);
process.stdout.write(`${found.length} forwarding closures, at most ${MOST}\n`);
if (found.length === 0 || found.length > MOST) process.exitCode = 1;
