import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { ServeError } from "./serve-error.ts";

/**
 * The packages with workerd's executable, by system. The package `workerd` itself is not used: its install script makes
 * a second name for the file, and an image of a container then has it twice.
 */
const PACKAGES: Readonly<Record<string, string>> = {
  "darwin arm64": "@cloudflare/workerd-darwin-arm64",
  "darwin x64": "@cloudflare/workerd-darwin-64",
  "linux arm64": "@cloudflare/workerd-linux-arm64",
  "linux x64": "@cloudflare/workerd-linux-64",
  "win32 arm64": "@cloudflare/workerd-windows-64",
  "win32 x64": "@cloudflare/workerd-windows-64",
};

/**
 * Returns the path of workerd's executable.
 *
 * @throws {ServeError} when it is not installed, or does not exist for this system
 */
export function findWorkerd(system = `${process.platform} ${process.arch}`): string {
  const name = PACKAGES[system];
  if (name === undefined) {
    const systems = Object.keys(PACKAGES).join(", ");
    throw new ServeError("workerd", `There is no workerd for ${system}. It exists for: ${systems}.`);
  }
  const file = `${name}/bin/${system.startsWith("win32") ? "workerd.exe" : "workerd"}`;
  try {
    const binary = createRequire(import.meta.url).resolve(file);
    if (existsSync(binary)) return binary;
  } catch {
    // The package is not installed: see below.
  }
  throw new ServeError(
    "workerd",
    `${name} is not installed, which has workerd for this system. Install with optional packages, on this system: npm ci --include=optional`,
  );
}
