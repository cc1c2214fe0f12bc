import { renamedClass } from "./renamed-class.ts";
import { ServeError } from "./serve-error.ts";
import { shortPath } from "./short-path.ts";
import type { WorkerConfig } from "./worker-config.ts";

/**
 * Checks that the entry exports a worker and its classes. workerd would print thousands of lines about a missing one.
 *
 * @throws {ServeError} `no-default-export`, `class-not-exported`
 */
export function checkExports(bundle: {
  readonly configFile: string;
  readonly config: WorkerConfig;
  /** Names that the entry exports. */
  readonly exported: readonly string[];
  /** Returns the bundled code. */
  readonly code: () => string;
}): void {
  const { code, config, configFile, exported } = bundle;
  if (!exported.includes("default")) {
    const agent = exported.find((name) => /^[A-Z]/.test(name)) ?? "MyBot";
    throw new ServeError(
      "no-default-export",
      `The worker of ${configFile} has no default export, so that it can answer nothing. Add to its entry: export default createWorker(${agent});`,
    );
  }
  const bound = new Set(config.bindings.map(({ className }) => className));
  const missing = [...bound].find((className) => !exported.includes(className));
  if (missing === undefined) return;
  const file = shortPath(configFile);
  const text = code();
  const renamed = exported.find((name) => !bound.has(name) && isBot(name, text));
  throw new ServeError(
    "class-not-exported",
    renamed === undefined
      ? `${file} binds the class ${missing}, but ${config.main} does not export it. Add to it: export { ${missing} };`
      : `${file} binds the class ${missing}, and ${config.main} exports ${renamed} instead. ${renamedClass(missing, renamed)}`,
  );
}

/**
 * Tells whether a class of bundled code extends `Think`, itself or over others. The code has no unneeded spaces, and the
 * bundler may number equal names.
 */
function isBot(className: string, code: string): boolean {
  const seen = new Set<string>();
  for (let name = className; !seen.has(name);) {
    if (/^_?Think\d*$/.test(name)) return true;
    seen.add(name);
    const escaped = name.replaceAll("$", String.raw`\$`);
    const declared = new RegExp(
      String.raw`(?:\bclass ${escaped}|(?<![\w$])${escaped}=class(?: [\w$]+)?) extends ([\w$]+)`,
    );
    name = declared.exec(code)?.[1] ?? name;
  }
  return false;
}
