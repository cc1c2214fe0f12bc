import { privateNetworks } from "./private-networks.ts";
import type { WorkerConfig } from "./worker-config.ts";

/** A file of the bundle, and its type for workerd. */
export interface BundleModule {
  readonly name: string;
  readonly type: "esModule" | "wasm" | "text" | "data";
}

/** The compatibility date from which on workerd has the modules of Node without a flag. */
const NODEJS_COMPAT_BY_DEFAULT = "2026-08-04";

/**
 * Stub of `cloudflare:email`. workerd's own version needs a module that exists only on Cloudflare's hosts and in dev
 * servers. Without the stub a worker that imports the agents package does not start.
 */
const EMAIL_MODULE = `export class EmailMessage {
  constructor(from, to, raw) { this.from = from; this.to = to; this.raw = raw; }
}
export default { EmailMessage };`;

/** The variable that names a folder. The bot gets a disk in its place, which it can only read. */
export const SKILLS_FOLDER = "SKILLS_FOLDER";
/** As `switchboard skills` reads it: with all files. */
const SKILLS_DISK = `
    (name = "skills", disk = (path = "skills", writable = false, allowDotfiles = true)),`;

/**
 * Writes workerd's configuration in Cap'n Proto text. It depends on the bundle and on the names of the variables only.
 *
 * - Values of variables are never in it. Each variable is a `fromEnvironment` binding, which workerd reads from its own
 *   environment.
 * - The address of the socket `http` and the paths of the disks are placeholders. The command line overrides them.
 */
export function writeWorkerdConfig(options: {
  readonly config: WorkerConfig;
  /** The entry first. Paths are relative to the folder of the configuration. */
  readonly modules: readonly BundleModule[];
  /** Variables that are set in the environment. */
  readonly environmentNames: readonly string[];
}): string {
  const { config, modules, environmentNames } = options;
  const fromEnvironment = new Set(environmentNames);
  const bindings = [
    `(name = "PUBLIC_NETWORK", service = "public")`,
    ...config.bindings.map(
      (it) => `(name = ${text(it.name)}, durableObjectNamespace = ${text(it.className)})`,
    ),
    ...environmentNames.map((name) =>
      name === SKILLS_FOLDER
        ? `(name = ${text(name)}, service = "skills")`
        : `(name = ${text(name)}, fromEnvironment = ${text(name)})`,
    ),
    ...Object.entries(config.variables)
      .filter(([name]) => !fromEnvironment.has(name))
      .map(([name, value]) =>
        typeof value === "string"
          ? `(name = ${text(name)}, text = ${text(value)})`
          : `(name = ${text(name)}, json = ${text(JSON.stringify(value))})`,
      ),
  ];
  const namespaces = config.classes.map(
    (it) =>
      `(className = ${text(it.className)}, uniqueKey = ${text(it.uniqueKey)}, enableSql = ${it.sqlite})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  # Else the first error that a bundle makes while it loads has all of it parsed once more, to know its line.
  v8Flags = ["--no-enable-lazy-source-positions"],
  # Each call of the console, and each word of workerd itself, is one line of JSON.
  logging = (structuredLogging = true),
  services = [
    (name = "main", worker = .worker),
    (name = "objects", disk = (path = "objects", writable = true)),${fromEnvironment.has(SKILLS_FOLDER) ? SKILLS_DISK : ""}
    # "private" holds the loopback range: the playground's servers and local models are reached there.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    # For addresses that the bot's author has not named: their names may resolve to a machine of this network.
    (name = "public", network = (allow = ["public"], deny = ${list(privateNetworks().map(text))}, tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  extensions = [(modules = [
    (name = "cloudflare-internal:email", internal = true, esModule = ${text(EMAIL_MODULE)}),
  ])],
);

const worker :Workerd.Worker = (
  modules = ${list(modules.map((it) => `(name = ${text(it.name)}, ${it.type} = embed ${text(it.name)})`))},
  compatibilityDate = ${text(config.compatibilityDate)},
  compatibilityFlags = ${list(flagsOf(config).map(text))},
  bindings = ${list(bindings)},
  durableObjectNamespaces = ${list(namespaces)},
  durableObjectStorage = (localDisk = "objects"),
  globalOutbound = "internet",
);
`;
}

/** Leaves out the flag that later dates imply, about which workerd would print a warning at every start. */
function flagsOf({ compatibilityDate, compatibilityFlags }: WorkerConfig): readonly string[] {
  return compatibilityFlags.filter(
    (flag) => flag !== "nodejs_compat" || compatibilityDate < NODEJS_COMPAT_BY_DEFAULT,
  );
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")},\n  ]`;
}

/** Writes a Cap'n Proto string: UTF-8 as it is, quotes and backslashes escaped, control characters as \\xNN. */
function text(value: string): string {
  let escaped = "";
  for (const character of value) {
    const code = character.charCodeAt(0);
    if (character === '"' || character === "\\") escaped += `\\${character}`;
    else if (code < 0x20 || code === 0x7f) escaped += `\\x${code.toString(16).padStart(2, "0")}`;
    else escaped += character;
  }
  return `"${escaped}"`;
}
