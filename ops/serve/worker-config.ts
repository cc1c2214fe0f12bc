import { z } from "zod";
import { renamedClass } from "./renamed-class.ts";
import { ServeError } from "./serve-error.ts";
import { wrongFields } from "./wrong-fields.ts";

/** A Durable Object class of the worker. */
export interface DurableObjectClass {
  readonly className: string;
  /** Name of the folder of its storage. It stays the same if the class is renamed. */
  readonly uniqueKey: string;
  readonly sqlite: boolean;
}

/** The parts of a wrangler configuration that `serve` needs. */
export interface WorkerConfig {
  readonly name: string;
  readonly main: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly classes: readonly DurableObjectClass[];
  readonly bindings: readonly { readonly name: string; readonly className: string }[];
  /** Default values of variables. The environment overrides them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Parts of the configuration that have no effect here: bindings that exist only on Cloudflare's network, and builds. */
  readonly unsupported: readonly string[];
  /** Names of modules to replace in the bundle. */
  readonly alias: Readonly<Record<string, string>>;
  /** Expressions to replace in the bundle. */
  readonly define: Readonly<Record<string, string>>;
  readonly keepNames: boolean;
}

const migrationSchema = z.object({
  tag: z.string(),
  new_classes: z.array(z.string()).default([]),
  new_sqlite_classes: z.array(z.string()).default([]),
  renamed_classes: z.array(z.object({ from: z.string(), to: z.string() })).default([]),
  deleted_classes: z.array(z.string()).default([]),
});

const wranglerSchema = z.object({
  name: z.string(),
  main: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()).default([]),
  durable_objects: z
    .object({ bindings: z.array(z.object({ name: z.string(), class_name: z.string() })).default([]) })
    .default({ bindings: [] }),
  migrations: z.array(migrationSchema).default([]),
  vars: z.record(z.string(), z.unknown()).default({}),
  alias: z.record(z.string(), z.string()).default({}),
  define: z.record(z.string(), z.string()).default({}),
  keep_names: z.boolean().default(true),
});

/** Bindings of a wrangler configuration that exist only on Cloudflare's network. */
const REMOTE_BINDINGS = [
  "ai",
  "r2_buckets",
  "kv_namespaces",
  "d1_databases",
  "queues",
  "vectorize",
  "browser",
];

/** Settings of a wrangler configuration that change the bundle in ways that only wrangler knows. */
const OTHER_BUILDS = ["build", "rules", "no_bundle", "tsconfig", "find_additional_modules"];

/**
 * Reads the part of a `wrangler.jsonc` that a local workerd needs.
 *
 * @throws {ServeError} when the text is not JSONC, or a field is missing or of the wrong type
 */
export function parseWorkerConfig(text: string, fileName: string): WorkerConfig {
  const document = parseJsonc(text, fileName);
  const result = wranglerSchema.safeParse(document);
  if (!result.success) {
    throw new ServeError("bad-config", `${fileName} cannot be served: ${wrongFields(result.error)}.`);
  }
  const { data } = result;
  const classes = classesOf(data.name, data.migrations);
  const bindings = data.durable_objects.bindings.map((binding) => ({
    name: binding.name,
    className: binding.class_name,
  }));
  for (const binding of bindings) {
    if (!classes.some((known) => known.className === binding.className)) {
      const unbound = classes.find(({ className }) =>
        bindings.every((other) => other.className !== className),
      );
      const advice =
        unbound === undefined
          ? `add it to "new_sqlite_classes".`
          : `and one creates ${unbound.className}. If that is its name of before: ${renamedClass(unbound.className, binding.className)} A class that is new belongs to "new_sqlite_classes".`;
      throw new ServeError(
        "bad-config",
        `${fileName} binds the Durable Object class ${binding.className}, but no migration creates it; ${advice}`,
      );
    }
  }
  if (classes.length > 0 && !classes.some(({ sqlite }) => sqlite)) {
    const names = classes.map(({ className }) => className).join(", ");
    throw new ServeError(
      "bad-config",
      `${fileName} creates ${names} without SQLite, in which a bot keeps everything: rename "new_classes" in its migrations to "new_sqlite_classes".`,
    );
  }
  return {
    name: data.name,
    main: data.main,
    compatibilityDate: data.compatibility_date,
    compatibilityFlags: data.compatibility_flags,
    classes,
    bindings,
    variables: data.vars,
    unsupported: [...REMOTE_BINDINGS, ...OTHER_BUILDS].filter((key) => Object.hasOwn(Object(document), key)),
    alias: data.alias,
    define: data.define,
    keepNames: data.keep_names,
  };
}

/** Returns a configuration whose data is stored under another name than its own. */
export function storedUnder(config: WorkerConfig, name: string): WorkerConfig {
  const classes = config.classes.map((known) => ({
    ...known,
    uniqueKey: `${name}${known.uniqueKey.slice(config.name.length)}`,
  }));
  return { ...config, classes };
}

function classesOf(
  workerName: string,
  migrations: readonly z.infer<typeof migrationSchema>[],
): DurableObjectClass[] {
  const classes = new Map<string, DurableObjectClass>();
  const create = (className: string, sqlite: boolean): void => {
    classes.set(className, { className, uniqueKey: `${workerName}-${className}`, sqlite });
  };
  for (const migration of migrations) {
    for (const className of migration.new_classes) create(className, false);
    for (const className of migration.new_sqlite_classes) create(className, true);
    for (const { from, to } of migration.renamed_classes) {
      const renamed = classes.get(from);
      if (renamed === undefined) continue;
      classes.delete(from);
      classes.set(to, { ...renamed, className: to });
    }
    for (const className of migration.deleted_classes) classes.delete(className);
  }
  return [...classes.values()];
}

/**
 * Parses JSON with comments.
 * @throws {ServeError} when the text is not JSON with comments
 */
export function parseJsonc(text: string, fileName: string): unknown {
  // Each alternative ends at its first end mark, so that a match never reaches across a string.
  const comment = String.raw`\/\/[^\n]*|\/\*(?:(?!\*\/)[\s\S])*\*\/`;
  const trailingComma = String.raw`,(?=(?:\s|${comment})*[}\]])`;
  const token = new RegExp(String.raw`"(?:\\.|[^"\\])*"|${comment}|${trailingComma}`, "g");
  const json = text.replace(token, (match) => (match.startsWith('"') ? match : match.replace(/[^\n]/g, " ")));
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServeError("bad-config", `${fileName} is not valid JSON with comments: ${reason}`);
  }
}
