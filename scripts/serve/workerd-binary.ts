import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { ServeError } from "./serve-error.ts";

/**
 * Where workerd's executable is. The package chooses it by platform, and has none for some of them.
 *
 * @throws {ServeError} when it is not installed
 */
export function findWorkerd(): string {
  const advice = "run npm ci; its optional packages are needed, so do not omit them.";
  try {
    const binary = (createRequire(import.meta.url)("workerd") as { default: string }).default;
    if (existsSync(binary)) return binary;
    throw new ServeError("workerd", `workerd is missing at ${binary}; ${advice}`);
  } catch (error) {
    if (error instanceof ServeError) throw error;
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ServeError(
      "workerd",
      `workerd is not installed for ${process.platform} ${process.arch} (${reason}); ${advice}`,
    );
  }
}
