import { SourceMap } from "node:module";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { findSources } from "../../../../ops/serve/log/source-map.ts";

it("finds the same sources as Node's own reader, at each place of a bundle", async () => {
  const { outputFiles } = await build({
    entryPoints: ["ops/serve/log/read-lines.ts", "ops/serve/log/source-map.ts"],
    outdir: "bundle",
    bundle: true,
    write: false,
    minifyWhitespace: true,
    format: "esm",
    platform: "node",
    sourcemap: "linked",
  });
  for (const code of outputFiles.filter(({ path }) => path.endsWith(".js"))) {
    const file = outputFiles.find(({ path }) => path === `${code.path}.map`)?.text ?? "";
    const map = JSON.parse(file) as ConstructorParameters<typeof SourceMap>[0];
    const places = code.text
      .split("\n")
      .flatMap((text, line) => Array.from(text, (_, column) => ({ line: line + 1, column })))
      .filter((_, index) => index % 3 === 0);
    const known = new SourceMap(map);
    const expected = places.map(({ line, column }) => {
      const entry = known.findEntry(line - 1, column);
      return "originalLine" in entry && entry.generatedLine === line - 1
        ? {
            source: map.sources.indexOf(entry.originalSource),
            line: entry.originalLine + 1,
            column: entry.originalColumn,
          }
        : undefined;
    });
    expect(expected.filter((one) => one !== undefined).length).toBeGreaterThan(100);
    expect(findSources(map.mappings, places)).toEqual(expected);
  }
});

it("finds no source where the map names none, nor on lines that it does not have", () => {
  // Line 2: a source at column 2, and code that was added from column 4 on.
  const mappings = ";EACAA,E;;AAAA";
  const at = (line: number, column: number) => findSources(mappings, [{ line, column }])[0];
  expect(at(2, 1)).toBeUndefined();
  expect(at(2, 3)).toEqual({ source: 0, line: 2, column: 0 });
  expect(at(2, 4)).toBeUndefined();
  expect(at(3, 0)).toBeUndefined();
  expect(at(4, 9)).toEqual({ source: 0, line: 2, column: 0 });
  expect(at(5, 0)).toBeUndefined();
});

it.each(["?", "é;ß,", "gggggggggggg", ",,;;,", ""])("ends at mappings that are none: %j", (mappings) => {
  expect(findSources(mappings, [{ line: 9, column: 9 }])).toHaveLength(1);
});
