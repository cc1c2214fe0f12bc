/** Bundles the command `switchboard`, which then starts in two thirds of the time. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type BuildResult, type Plugin } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");

export type CommandBundle = BuildResult<{ readonly metafile: true }>;

/**
 * Writes the command into a folder: `main.js`, and modules that it loads when they are needed. Packages stay outside,
 * except the part of zod that the command uses. Most of zod's modules are words of other languages.
 *
 * @param folder the folder of the new files
 * @param tree the folder in which the command finds its other files, as in the sources: the repository, or the `dist` of
 *   the package
 * @param options.write `false` to look at the bundle only
 */
export async function bundleCommand(
  folder: string,
  tree: string,
  { write = true }: { readonly write?: boolean } = {},
): Promise<CommandBundle> {
  return build({
    entryPoints: [path.join(root, "cli/main.ts")],
    absWorkingDir: root,
    outdir: folder,
    write,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    packages: "external",
    plugins: [zodInside(), placesOf(folder, tree)],
    metafile: true,
    logLevel: "warning",
  });
}

function zodInside(): Plugin {
  return {
    name: "zod-inside",
    setup(bundler) {
      const zod = { path: path.join(root, "node_modules/zod/index.js"), sideEffects: false };
      bundler.onResolve({ filter: /^zod$/ }, () => zod);
    },
  };
}

/** Lets a module find the files beside it, as if it were in `tree` and not in the bundle. */
function placesOf(folder: string, tree: string): Plugin {
  const place = (file: string): string =>
    JSON.stringify(path.relative(folder, path.join(tree, path.relative(root, file))));
  return {
    name: "places",
    setup(bundler) {
      bundler.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => ({
        contents: (await readFile(file, "utf8"))
          .replaceAll("import.meta.url", `new URL(${place(file)}, import.meta.url).href`)
          .replaceAll(
            "import.meta.dirname",
            `process.getBuiltinModule("node:path").join(import.meta.dirname, ${place(path.dirname(file))})`,
          )
          // The bundler can leave out the unused part of a namespace, but not of an object with the same content.
          .replace('import { z } from "zod"', 'import * as z from "zod"'),
        loader: "ts",
      }));
    },
  };
}
