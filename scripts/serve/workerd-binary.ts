import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { ServeError } from "./serve-error.ts";

/**
 * Returns the path of workerd's executable. Its package chooses the file by platform, and has none for some platforms.
 *
 * @throws {ServeError} when it is not installed
 */
export function findWorkerd(): string {
  const advice = "Run npm ci with optional packages, which workerd needs.";
  try {
    const binary = (createRequire(import.meta.url)("workerd") as { default: string }).default;
    if (existsSync(binary)) return binary;
    throw new ServeError("workerd", `workerd is missing at ${binary}. ${advice}`);
  } catch (error) {
    if (error instanceof ServeError) throw error;
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ServeError(
      "workerd",
      `workerd is not installed for ${process.platform} ${process.arch} (${reason}). ${advice}`,
    );
  }
}
