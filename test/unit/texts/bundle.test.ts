import path from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** The languages in the bundle of a bot. */
async function languagesIn(imports: string, texts: string): Promise<string[]> {
  const bot = `import { Think } from "switchboard"; ${imports}\nexport class Bot extends Think { texts = ${texts}; }`;
  const { outputFiles } = await build({
    stdin: { contents: bot, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    tsconfig: path.join(root, "tsconfig.base.json"),
    alias: { "switchboard/texts": "./src/texts/index.ts", switchboard: "./src/index.ts" },
    bundle: true,
    write: false,
    format: "esm",
    packages: "external",
    external: ["cloudflare:*", "node:*"],
    charset: "utf8",
  });
  const code = outputFiles[0]?.text ?? "";
  const words = { english: "Ask for changes", german: "Ändern lassen", arabic: "طلب تعديل" };
  return Object.entries(words).flatMap(([language, text]) => (code.includes(text) ? [language] : []));
}

it("bundles a language only for a bot that imports it", async () => {
  expect(await languagesIn("", "{}")).toEqual(["english"]);
  expect(await languagesIn('import { german } from "switchboard/texts";', "german")).toEqual([
    "english",
    "german",
  ]);
  const both = 'import { arabic, byLanguage, german } from "switchboard/texts";';
  expect(await languagesIn(both, "byLanguage({ de: german, ar: arabic })")).toHaveLength(3);
});
