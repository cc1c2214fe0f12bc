import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

const folder = path.join(import.meta.dirname, "../page");

/** The roots of the page's modules and styles. Each is served as one file with everything that it imports. */
const ENTRIES = ["app.js", "page.css"];
const AS_THEY_ARE = ["index.html", "icon.svg"];

/** The served files by name. */
type PageFiles = ReadonlyMap<string, Uint8Array>;

let latest: { readonly version: string; readonly files: Promise<PageFiles> } | undefined;

/**
 * Returns one of the page's files. The files are bundled at the first request, and again when the page itself is asked
 * for and one of the sources has changed.
 */
export async function pageFile(name: string): Promise<Uint8Array | undefined> {
  const files = name !== "index.html" && latest !== undefined ? latest.files : newestFiles();
  return (await files).get(name);
}

async function newestFiles(): Promise<PageFiles> {
  const version = await sourceVersion();
  if (latest?.version !== version) {
    const made = { version, files: makeFiles() };
    latest = made;
    // The next request tries again.
    made.files.catch(() => {
      if (latest === made) latest = undefined;
    });
  }
  return await latest.files;
}

/** Changes whenever a source is saved, added or removed. */
async function sourceVersion(): Promise<string> {
  const names = await readdir(folder);
  const times = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).mtimeMs));
  return names.map((name, index) => `${name} ${times[index]}`).join("\n");
}

async function makeFiles(): Promise<PageFiles> {
  const kept = AS_THEY_ARE.map(async (name) => [name, await readFile(path.join(folder, name))] as const);
  // Most programs that start a simulator never open its page. Without a process that stays: others end theirs.
  const { buildSync } = await import("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: ENTRIES.map((name) => path.join(folder, name)),
    bundle: true,
    write: false,
    outdir: folder,
    format: "esm",
    charset: "utf8",
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
  });
  const bundled = outputFiles.map((file) => [path.basename(file.path), file.contents] as const);
  return new Map<string, Uint8Array>([...(await Promise.all(kept)), ...bundled]);
}
