import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "../../ops/serve/worker-config.ts";
import { bundleCommand } from "../../scripts/bundle-command.ts";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string): unknown => parseJsonc(readFileSync(path.join(root, file), "utf8"), file);
const manifest = read("package.json") as {
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string | Readonly<Record<"types" | "default", string>>>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};
/** The package's names with the sources that they mean inside the repository. */
const { paths } = (
  read("tsconfig.base.json") as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
  }
).compilerOptions;

/** Returns the source of a built file. */
function sourceOf(built: string): string {
  return built.replace(/^\.?\/?dist\//, "").replace(/(?:\.d\.ts|\.js)$/, ".ts");
}

describe("the package", () => {
  it("offers the same modules as the repository has under these names", () => {
    const modules = Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === "string" ? [] : [[path.posix.join("switchboard", name), target] as const],
    );
    const built = modules.map(([name, target]) => [name, [`./${sourceOf(target.default)}`]]);
    expect(Object.fromEntries(built)).toEqual(paths);
    for (const [, target] of modules) {
      expect(sourceOf(target.types)).toBe(sourceOf(target.default));
      expect(existsSync(path.join(root, sourceOf(target.types)))).toBe(true);
    }
  });

  it("keeps what a bot has stored, and its secrets, out of the examples", () => {
    const ignored = readFileSync(path.join(root, "examples/.npmignore"), "utf8").split("\n");
    expect(ignored).toEqual(expect.arrayContaining([".data/", ".env", ".dev.vars"]));
  });

  it("has a command", () => {
    expect(existsSync(path.join(root, sourceOf(manifest.bin.switchboard ?? "")))).toBe(true);
  });

  it("leaves tests and tools out", () => {
    expect(manifest.files).toContain("dist");
    expect(manifest.files.filter((name) => /test|lab|scripts|\*/.test(name))).toEqual([]);
  });

  it("has every page and file that its documentation leads to", () => {
    // npm adds these by itself.
    const inside = ["README.md", "LICENSE", "package.json", ...manifest.files];
    const isInside = (file: string): boolean =>
      inside.some((name) => file === name || file.startsWith(`${name}/`));
    const pages = inside.flatMap((name) => {
      if (/^(?:dist|templates|LICENSE|package\.json)$/.test(name)) return [];
      if (name.endsWith(".md")) return [name];
      return readdirSync(path.join(root, name), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".md"))
        .map((file) => path.posix.join(name, file));
    });
    const missing = pages.flatMap((page) =>
      [...readFileSync(path.join(root, page), "utf8").matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
        .map(([, link = ""]) => path.posix.join(path.posix.dirname(page), link).replace(/\/$/, ""))
        .filter((file) => !isInside(file))
        .map((file) => `${page}: ${file}`),
    );
    expect(missing).toEqual([]);
    expect(pages.length).toBeGreaterThan(40);
  });

  it("runs a built bot without the packages that only a bundle needs, which an image leaves out", async () => {
    const { metafile } = await bundleCommand(root, root, { write: false });
    const imported = Object.values(metafile.outputs)
      .flatMap(({ imports }) =>
        imports.flatMap(({ external, path: name }) => (external === true ? [name] : [])),
      )
      .filter((name) => !isBuiltin(name))
      .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
    // `switchboard skills` loads agents for an author. The rest must not be a peer.
    const missing = imported.filter(
      (name) => name !== "agents" && !Object.hasOwn(manifest.dependencies, name),
    );
    expect([...new Set(missing)]).toEqual([]);
    expect(manifest.dependencies["agents"]).toBeUndefined();
    // The package `workerd` would put the runtime into an image twice.
    expect(manifest.dependencies["workerd"]).toBeUndefined();
  });

  it("leaves to a bot the packages that the bot imports itself", () => {
    for (const name of ["ai", "zod"]) {
      expect(manifest.peerDependencies[name]).toMatch(/^\^/);
      expect(manifest.dependencies[name]).toBeUndefined();
    }
  });
});
