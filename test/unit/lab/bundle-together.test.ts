import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundleTogether, type BotToBundle } from "../../../lab/support/bundle-together.ts";
import { bundleWorker } from "../../../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "bundle-together-"));
  await writeFile(path.join(folder, "shared.ts"), "export const shared = () => 'shared';\n");
  await writeFile(path.join(folder, "data.wasm"), "not a module");
});
afterEach(() => rm(folder, { recursive: true }));

async function bot(name: string, source: string, more: object = {}): Promise<BotToBundle> {
  await writeFile(path.join(folder, `${name}.ts`), source);
  const configFile = path.join(folder, `${name}.jsonc`);
  const configuration = { name, main: `${name}.ts`, compatibility_date: "2026-10-15", ...more };
  return { configFile, config: parseWorkerConfig(JSON.stringify(configuration), configFile) };
}

const handler = (result: string): string =>
  `import { shared } from "./shared";\nexport default { fetch: () => new Response(shared() + ${result}) };\n`;

describe("bots that are bundled together", () => {
  it("have the files that each has alone but the source map, also with other settings", async () => {
    const bots = [
      await bot("one", handler('"one"')),
      await bot("two", `import data from "./data.wasm";\n${handler("String(data)")}`),
      await bot("three", handler("NAME"), { define: { NAME: '"three"' } }),
    ];
    const bundles = await bundleTogether(bots);
    for (const [index, { config, configFile }] of bots.entries()) {
      const { files } = await bundleWorker(configFile, config);
      const text = (all: Iterable<readonly [string, Uint8Array]>) =>
        Object.fromEntries([...all].map(([name, content]) => [name, Buffer.from(content).toString()]));
      const { "worker.js.map": map, ...alone } = text(files);
      expect(map).toContain("mappings");
      const entry = alone["worker.js"]?.replace("//# sourceMappingURL=worker.js.map\n", "");
      expect(text(bundles?.[index] ?? [])).toEqual({ ...alone, "worker.js": entry });
    }
  });

  it("are none if one of them cannot be bundled", async () => {
    const bots = [await bot("one", handler('"one"')), await bot("broken", 'import "./missing";\n')];
    expect(await bundleTogether(bots)).toBeUndefined();
  });
});
