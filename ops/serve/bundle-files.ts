import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { BundleModule } from "./workerd-config.ts";

/** Name of the entry in every bundle. */
export const ENTRY = "worker.js";

const MODULE_TYPES: Readonly<Record<string, BundleModule["type"]>> = {
  ".js": "esModule",
  ".wasm": "wasm",
  ".bin": "data",
};

/** Returns the modules of a bundle, the entry first. */
export function modulesOf(names: Iterable<string>, entry = ENTRY): readonly BundleModule[] {
  const modules = [...names].flatMap((name): BundleModule[] => {
    const type = MODULE_TYPES[path.extname(name)];
    return type === undefined ? [] : [{ name, type }];
  });
  return modules.toSorted(
    (a, b) => Number(b.name === entry) - Number(a.name === entry) || (a.name < b.name ? -1 : 1),
  );
}

/** Reads the files of a bundle from a folder, with its source map. */
export async function readBundle(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const names = (await readdir(folder)).filter(
    (name) => name === `${ENTRY}.map` || MODULE_TYPES[path.extname(name)] !== undefined,
  );
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name))] as const)),
  );
}
