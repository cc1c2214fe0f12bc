#!/usr/bin/env node
/** `npm create switchboard [folder]` is `switchboard init [folder]`, without installing anything first. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const manifest = import.meta.resolve("switchboard/package.json");
const { bin } = JSON.parse(readFileSync(fileURLToPath(manifest), "utf8"));
const command = fileURLToPath(new URL(bin.switchboard, manifest));
const { status } = spawnSync(process.execPath, [command, "init", ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;
