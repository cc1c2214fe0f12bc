import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { allowedUpdates } from "../../../providers/telegram/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const PAGES = [
  "README.md",
  "AGENTS.md",
  "CHANGELOG.md",
  "docs/writing-a-bot.md",
  "docs/actions.md",
  "docs/attachments.md",
  "docs/files.md",
  "docs/cards.md",
  "docs/prompts.md",
  "docs/hooks.md",
  "docs/configuration.md",
  "docs/replies.md",
  "docs/telegram.md",
  "docs/security.md",
];

/** The class that every example stands in which is no whole module. */
const PRELUDE = `
export class Example extends Think<BotEnvironment> {
`;

function examplesOf(page: string): readonly string[] {
  const blocks = [...read(page).matchAll(/```ts\n(?<code>[\s\S]*?)```/g)].map(
    (match) => match.groups?.["code"] ?? "",
  );
  // The page says with which imports its examples work.
  const imports = blocks.find((code) =>
    code
      .trim()
      .split("\n")
      .every((line) => line.startsWith("import ")),
  );
  return blocks.map((code) => (code.startsWith("import ") ? code : `${imports}${PRELUDE}${code}}\n`));
}

describe("the documentation", () => {
  it("has examples that compile", async () => {
    const folder = path.join(root, "node_modules/.cache/documentation-examples");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    // A folder of its own is a package of its own, so the package's name is mapped to its files.
    const paths = Object.entries(JSON.parse(read("package.json")).exports as Record<string, string>).map(
      ([name, file]) => [path.posix.join("switchboard", name), [path.join(root, file)]],
    );
    const config = {
      extends: path.join(root, "tsconfig.worker.json"),
      compilerOptions: {
        noUnusedLocals: false,
        incremental: false,
        tsBuildInfoFile: null,
        paths: Object.fromEntries(paths),
      },
      include: ["*.ts"],
    };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    const pages = ["writing-a-bot", "files", "cards", "prompts", "hooks"];
    const examples = pages.flatMap((page) => examplesOf(`docs/${page}.md`));
    for (const [index, code] of examples.entries())
      await writeFile(path.join(folder, `example-${index}.ts`), code);
    const output = await promisify(execFile)(path.join(root, "node_modules/.bin/tsc"), ["-p", folder], {
      cwd: root,
    }).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    expect(examples.length).toBeGreaterThan(10);
    // Errors in the product's own files are the type check's business.
    expect(output.split("\n").filter((line) => line.includes("documentation-examples"))).toEqual([]);
  });

  it("links only to files that exist", () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?<target>[^)#]+)\)/g)]
        .map((match) => match.groups?.["target"] ?? "")
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => !existsSync(path.join(root, path.dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it("keeps the README short", () => {
    expect(read("README.md").split("\n").length).toBeLessThanOrEqual(150);
  });

  it("asks Telegram for the updates that are handled", () => {
    const asked = /allowed_updates=(?<list>\[.*?\])/.exec(read("README.md"))?.groups?.["list"] ?? "[]";
    expect(JSON.parse(asked)).toEqual(allowedUpdates);
  });
});
