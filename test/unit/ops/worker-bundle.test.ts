import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ENTRY } from "../../../ops/serve/bundle-files.ts";
import { bundleWorker } from "../../../ops/serve/worker-bundle.ts";
import type { WorkerBundle } from "../../../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";

const root = path.resolve(import.meta.dirname, "../../..");
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-bundle-"));
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  await mkdir(path.join(folder, "src"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Bundles a bot whose configuration knows the class `ResaBot`. */
async function bundle(code: string, more: object = {}): Promise<WorkerBundle> {
  await writeFile(path.join(folder, "src/bot.ts"), code);
  const configuration = {
    name: "resa",
    main: "src/bot.ts",
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "ResaBot", class_name: "ResaBot" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["ResaBot"] }],
    ...more,
  };
  const configFile = path.join(folder, "wrangler.jsonc");
  await writeFile(configFile, JSON.stringify(configuration));
  return bundleWorker(configFile, parseWorkerConfig(JSON.stringify(configuration), "wrangler.jsonc"));
}

const RENAMED = `class Think {}
class Base extends Think {}
export class Helper {}
export class RestoBot extends Base {}
export default { RestoBot };`;

describe("a worker's bundle", () => {
  it("takes the aliases of its configuration from the folder of that, whatever the current folder is", async () => {
    await writeFile(path.join(folder, "src/real.ts"), 'export const word = "of the stand-in";');
    const code = 'import { word } from "heavy";\nexport class ResaBot {}\nexport default { word };';
    const { files } = await bundle(code, { alias: { heavy: "./src/real.ts" } });
    expect(new TextDecoder().decode(files.get(ENTRY))).toContain("of the stand-in");
  });

  it("says where else a class has to be renamed, and how its data is kept", async () => {
    await expect(bundle(RENAMED)).rejects.toMatchObject({
      code: "class-not-exported",
      message: `${folder}/wrangler.jsonc binds the class ResaBot, and src/bot.ts exports RestoBot instead. The new name of a class stands in three more places, all in wrangler.jsonc: "name" and "class_name" of its binding, and a migration at the end, which keeps the data: { "tag": "rename-to-RestoBot", "renamed_classes": [{ "from": "ResaBot", "to": "RestoBot" }] }.`,
    });
  });

  it("asks for an export if no other class of the file is a bot", async () => {
    const code = "class ResaBot {}\nexport class Helper {}\nexport default {};";
    await expect(bundle(code)).rejects.toMatchObject({
      message: expect.stringMatching(/src\/bot\.ts does not export it\. Add to it: export \{ ResaBot \};$/),
    });
  });
});

describe("a configuration that binds a class which it does not create", () => {
  it("says how to install what it misses, in the version that its importer asks for", async () => {
    const feature = path.join(folder, "feature");
    await mkdir(feature);
    await writeFile(
      path.join(feature, "package.json"),
      JSON.stringify({ peerDependencies: { "@scope/engine": "1.2.3", loose: "^4.0.0" } }),
    );
    await writeFile(
      path.join(feature, "index.js"),
      'import "@scope/engine/wasm"; import "loose"; import "other/x";',
    );
    const failed = await bundle('import "../feature/index.js"; import "./gone.ts";').catch(String);
    expect(failed).toMatch(/\n\nInstall what is missing: npm install @scope\/engine@1\.2\.3 loose other$/);
    expect(failed).toContain('Could not resolve "./gone.ts"');
    expect(failed).not.toContain("mark the path");
  });

  it("is refused with the migration that keeps the data of the class before", async () => {
    const bindings = [{ name: "RestoBot", class_name: "RestoBot" }];
    await expect(bundle(RENAMED, { durable_objects: { bindings } })).rejects.toMatchObject({
      code: "bad-config",
      message: expect.stringMatching(/"renamed_classes": \[\{ "from": "ResaBot", "to": "RestoBot" \}\]/),
    });
  });
});
