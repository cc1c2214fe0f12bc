import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The faces of the package, and the sources behind them. The longest name first, as the bundler needs it. */
const FACES = {
  "switchboard/messengers/telegram": "providers/telegram/index.ts",
  "switchboard/messengers": "src/messengers/index.ts",
  switchboard: "src/index.ts",
} as const;

/**
 * Writes a configuration that serves the plain bot of the benchmark with the sources of another checkout, whose
 * `node_modules` are in place. Returns its path. The file is removed when this process ends.
 */
export function earlierSources(checkout: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "switchboard-earlier-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "wrangler.jsonc");
  const alias = Object.entries(FACES).map(([name, source]) => [name, path.resolve(checkout, source)]);
  const config = {
    name: "bench-plain",
    main: path.join(import.meta.dirname, "switchboard/plain.ts"),
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "PlainBot", class_name: "PlainBot" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["PlainBot"] }],
    alias: Object.fromEntries(alias) as Record<string, string>,
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
