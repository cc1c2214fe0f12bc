import { builtinModules } from "node:module";
import path from "node:path";
import { build as buildOnce, context, formatMessages, stop } from "esbuild";
import type {
  BuildContext,
  BuildOptions,
  BuildResult,
  ImportKind,
  Message,
  OnResolveResult,
  Plugin,
} from "esbuild";
import { ENTRY } from "./bundle-files.ts";
import { checkExports } from "./check-exports.ts";
import { describeDuplicate } from "./duplicate-keys.ts";
import { installCommand, missingPackage } from "./missing-packages.ts";
import { ServeError } from "./serve-error.ts";
import type { WorkerConfig } from "./worker-config.ts";

/** Namespace of the modules that hand a module of the runtime to `require`. */
const REQUIRED = "required";

/** A worker in one module, with its source map and the files that it imports as they are. */
export interface WorkerBundle {
  /** Contents by name, the entry among them. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Certain mistakes in the sources. */
  readonly warnings: readonly string[];
  /** Absolute paths of the author's sources. */
  readonly sources: readonly string[];
  /** Bytes of the entry by package, or by folder of the author's sources. */
  readonly parts: ReadonlyMap<string, number>;
}

/** Bundles one worker, again and again. A second bundle takes less time, because unchanged files are not parsed again. */
export interface Bundler {
  /** @throws {ServeError} `bundle` with places in the sources, or `no-default-export` */
  bundle(): Promise<WorkerBundle>;
  /** If the last bundle has failed: absolute paths that it has looked for, of the author's modules, there or missing. */
  lookedFor(): readonly string[];
  close(): Promise<void>;
}

/**
 * Prepares to bundle the worker of a configuration. Nothing is written.
 *
 * The settings are those of wrangler, so that the same code runs after a deployment, but without its comments and
 * spaces: a start parses less.
 */
export async function createBundler(configFile: string, config: WorkerConfig): Promise<Bundler> {
  const options = bundlerOptions(configFile, config);
  const esbuild = await context(options);
  let wanted: readonly string[] = [];
  return {
    async bundle() {
      wanted = [];
      try {
        return toBundle(await rebuild(esbuild, configFile), configFile, config);
      } catch (error) {
        wanted = await ownModules(options);
        throw error;
      }
    },
    lookedFor: () => wanted,
    close: () => esbuild.dispose(),
  };
}

/** The bundler's settings for one worker. */
export interface BundlerOptions extends BuildOptions {
  /** The worker's module, by the name of its bundle. */
  readonly entryPoints: Record<string, string>;
}

/** Returns the bundler's settings for the worker of a configuration. */
export function bundlerOptions(configFile: string, config: WorkerConfig): BundlerOptions {
  const folder = path.dirname(configFile);
  return {
    ...settings(config),
    alias: aliasesIn(folder, config.alias),
    plugins: [runtimeModules()],
    entryPoints: { [path.parse(ENTRY).name]: path.resolve(folder, config.main) },
    // The paths in the source map are relative to this folder, as they are in messages.
    outdir: process.cwd(),
  };
}

/** Bundles a worker once. */
export async function bundleWorker(configFile: string, config: WorkerConfig): Promise<WorkerBundle> {
  const bundler = await createBundler(configFile, config);
  try {
    return await bundler.bundle();
  } finally {
    await bundler.close();
  }
}

/** Ends the bundler's own process, which keeps some hundred MB. Another bundle in this process would start it again. */
export async function endBundler(): Promise<void> {
  await stop();
}

function settings(config: WorkerConfig): BuildOptions {
  return {
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2024",
    supported: { "import-source": true, using: true },
    conditions: ["workerd", "worker", "browser"],
    minifyWhitespace: true,
    keepNames: config.keepNames,
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"', ...config.define },
    loader: {
      ".js": "jsx",
      ".mjs": "jsx",
      ".cjs": "jsx",
      ".txt": "text",
      ".html": "text",
      ".sql": "text",
      ".wasm": "copy",
      ".bin": "copy",
    },
  };
}

/** A file that stands in for a module is relative to the configuration. */
function aliasesIn(folder: string, aliases: WorkerConfig["alias"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(aliases).map(([name, target]) => [
      name,
      /^\.{1,2}\//.test(target) ? path.resolve(folder, target) : target,
    ]),
  );
}

/**
 * Leaves to workerd the modules that it has itself: its own, and those of Node.
 *
 * workerd has no `require`. A package that requires a module of Node gets it through a module that imports it.
 */
function runtimeModules(): Plugin {
  const builtin = new Set(builtinModules.filter((name) => !name.startsWith("_")));
  const resolve = (name: string, kind: ImportKind): OnResolveResult =>
    kind === "require-call" ? { path: name, namespace: REQUIRED } : { path: name, external: true };
  return {
    name: "runtime-modules",
    setup(build) {
      build.onResolve({ filter: /^(?:cloudflare|node|workerd):/ }, ({ kind, path: name }) =>
        resolve(name, kind),
      );
      build.onResolve({ filter: /^[a-z_0-9]+(?:\/[a-z_]+)?$/ }, ({ kind, path: name }) =>
        builtin.has(name) ? resolve(`node:${name}`, kind) : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: REQUIRED }, ({ path: name }) => ({
        contents: `import all from ${JSON.stringify(name)};\nmodule.exports = all;\n`,
        loader: "js",
      }));
    },
  };
}

/**
 * Returns the files that the author's modules ask for. A name without an extension may mean several. Takes longer than a
 * bundle, because it looks at each import.
 */
async function ownModules(options: BuildOptions): Promise<readonly string[]> {
  const wanted = new Set<string>();
  const collect: Plugin = {
    name: "own-modules",
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path: name, resolveDir }) => {
        const file = path.resolve(resolveDir, name);
        if (file.split(path.sep).includes("node_modules")) return undefined;
        for (const extension of ["", ".ts", ".tsx", ".js"]) wanted.add(`${file}${extension}`);
        return undefined;
      });
    },
  };
  // It fails as the bundle has.
  await buildOnce({ ...options, plugins: [...(options.plugins ?? []), collect] }).catch(() => undefined);
  return [...wanted];
}

type Built = BuildResult<{ readonly write: false; readonly metafile: true }>;

async function rebuild(esbuild: BuildContext, configFile: string): Promise<Built> {
  try {
    return await esbuild.rebuild();
  } catch (error) {
    const errors = (error as { readonly errors?: Message[] }).errors;
    if (errors === undefined) throw error;
    // The bundler's advice about a package is to leave it out.
    const told = errors.map((one) => (missingPackage(one) === undefined ? one : { ...one, notes: [] }));
    const shown = await formatMessages(told.slice(0, 5), { kind: "error", color: false });
    const install = installCommand(errors);
    throw new ServeError(
      "bundle",
      `The worker of ${configFile} could not be bundled:\n${shown.map((text) => text.trimEnd()).join("\n")}${install === undefined ? "" : `\n\nInstall what is missing: ${install}`}`,
    );
  }
}

function toBundle(built: Built, configFile: string, config: WorkerConfig): WorkerBundle {
  const folder = path.dirname(configFile);
  const output = Object.values(built.metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined);
  const files = built.outputFiles.map((file) => [path.basename(file.path), file.contents] as const);
  const entry = built.outputFiles.find((file) => path.basename(file.path) === ENTRY);
  checkExports({ configFile, config, exported: output?.exports ?? [], code: () => entry?.text ?? "" });
  const sources = Object.keys(built.metafile.inputs)
    .filter((input) => !input.startsWith(`${REQUIRED}:`) && !input.split("/").includes("node_modules"))
    .map((input) => path.resolve(input));
  return {
    files: new Map(files),
    warnings: built.warnings.flatMap((warning) => describeDuplicate(warning, folder)),
    sources,
    parts: partsOf(output?.inputs ?? {}),
  };
}

function partsOf(inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>): Map<string, number> {
  const parts = new Map<string, number>();
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const name =
      /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file.split("/").slice(0, 2).join("/");
    parts.set(name, (parts.get(name) ?? 0) + bytesInOutput);
  }
  return parts;
}
