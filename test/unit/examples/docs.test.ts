import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { API } from "typescript/unstable/sync";
import { beforeAll, describe, expect, it } from "vitest";
import { parseJsonc } from "../../../ops/serve/worker-config.ts";
import { allowedUpdates } from "../../../providers/telegram/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
/** All pages, from the root. */
const PAGES = [
  "README.md",
  "AGENTS.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.join("docs", file)),
];

/** What a page may use in examples without an import of their own. */
const IMPORTS = `import { tool } from "ai";
import { getTurn, modelFromEnv, Think, type BotEnvironment, type CardPress, type ThinkCommands, type ThinkTools } from "switchboard";
import { defineMessengers, type ChatMemberEvent, type MessengerContext } from "switchboard/messengers";
import { telegramFromEnv, telegramMessenger } from "switchboard/messengers/telegram";
import { z } from "zod";
`;

/** The class that every example stands in which is no whole module. */
const PRELUDE = `
export class Example extends Think<BotEnvironment> {
`;

/** What the examples about tests stand in. */
const TEST = `import { answer, createGate, holdAt, testBot, type TestChat } from "switchboard/testing";
import { expect } from "vitest";
declare const chat: TestChat;
`;

function isImports(code: string): boolean {
  return /^(?:import [^;]*;\s*)+$/.test(code);
}

/** Returns the examples of a page as modules: with their own imports, or the page's, or those above. */
function examplesOf(page: string): readonly string[] {
  const blocks = [...read(page).matchAll(/```ts\n(?<code>[\s\S]*?)```/g)].map(
    (match) => match.groups?.["code"] ?? "",
  );
  const imports = blocks.find(isImports) ?? IMPORTS;
  return blocks
    .filter((code) => !isImports(code))
    .map((code) => {
      if (page.endsWith("/testing.md")) return testExample(code);
      if (code.startsWith("import ")) return code;
      // The call of a factory stands where a bot declares its messengers.
      if (/^telegram(?:Messenger|FromEnv)\(/.test(code)) {
        const call = code.trim().replace(/;$/, "");
        return `${imports}${PRELUDE}override getMessengers() { return defineMessengers({ bot: ${call} }); }}\n`;
      }
      return code.startsWith("export ") ? `${imports}${code}` : `${imports}${PRELUDE}${code}}\n`;
    });
}

/** Returns the names by which the headings of a page can be linked. */
function headingsOf(text: string): ReadonlySet<string> {
  const headings = text.split("\n").filter((line) => /^#{1,6} /.test(line));
  return new Set(
    headings.map((line) =>
      line
        .replace(/^#+ /, "")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Returns an example of a test as a module. */
function testExample(code: string): string {
  const bot = path.join(root, "examples/minimal/worker.ts");
  if (code.includes("../src/bot.ts")) return code.replace("../src/bot.ts", bot);
  const [, imports = "", rest = ""] = /^((?:import [^;]*;\s*)*)([\s\S]*)$/.exec(code) ?? [];
  const used =
    imports === ""
      ? TEST
      : `import type { TestChat } from "switchboard/testing";\ndeclare const chat: TestChat;\n`;
  return `${imports}${used}${rest}`;
}

const EXAMPLES = PAGES.filter((page) => page.startsWith("docs/") || page === "README.md").flatMap((page) =>
  examplesOf(page).map((code, index) => [`${page.replaceAll("/", "-")}-${index + 1}.ts`, code] as const),
);

/**
 * Bots that use the symbols of Think, with the name of the package replaced and nothing else. Those of `seeds` are the
 * examples of Think's own documents, a file for each section. Their first line names the test that shows what they do.
 */
const THINK_BOTS = ["think-bots", "seeds"].flatMap((folder) =>
  readdirSync(path.join(root, "test/fixtures", folder)).map(
    (file) =>
      [
        `think-bot-${folder}-${file}`,
        read(`test/fixtures/${folder}/${file}`).replaceAll('"@cloudflare/think', '"switchboard'),
      ] as const,
  ),
);

/** The compiler's complaints about the files of a folder. It checks only them: `npm run types` checks what they import. */
function complaintsAbout(folder: string): readonly string[] {
  const api = new API({ cwd: root });
  try {
    const config = path.join(folder, "tsconfig.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error("The compiler cannot read the examples.");
    const { program, rootFiles } = project;
    expect(rootFiles.length).toBe(EXAMPLES.length + THINK_BOTS.length);
    return rootFiles.flatMap((file) =>
      [
        ...program.getSyntacticDiagnostics(file),
        ...program.getBindDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ].map(({ code, text }) => `${file}: error TS${code}: ${text}`),
    );
  } finally {
    api.close();
  }
}

describe("the documentation", () => {
  /** The compiler's complaints about the examples and about bots that were written for Think. */
  let complaints: readonly string[];

  beforeAll(async () => {
    const folder = path.join(root, "node_modules/.cache/documentation-examples");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const config = {
      extends: path.join(root, "tsconfig.worker.json"),
      compilerOptions: {
        noUnusedLocals: false,
        incremental: false,
        tsBuildInfoFile: null,
      },
      include: ["*.ts"],
    };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    for (const [file, code] of [...EXAMPLES, ...THINK_BOTS]) await writeFile(path.join(folder, file), code);
    complaints = complaintsAbout(folder);
  }, 120_000);

  it("has the files of a first bot with paths that are right in its folder", () => {
    const [configuration, types] = [
      ...read("docs/learn/first-bot.md").matchAll(/```json\n([\s\S]*?)```/g),
    ].map(([, json = ""]) => JSON.parse(json) as Record<string, unknown>);
    const files = [configuration?.["$schema"], types?.["extends"]].map(String);
    expect(files.filter((file) => !existsSync(path.join(root, "my-bot", file)))).toEqual([]);
    const example = parseJsonc(read("examples/minimal/wrangler.jsonc"), "wrangler.jsonc") as object;
    expect({ ...configuration, $schema: "", name: "" }).toEqual({ ...example, $schema: "", name: "" });
  });

  it("has examples that compile", () => {
    expect(EXAMPLES.length).toBeGreaterThan(10);
    expect(complaints.filter((line) => !line.includes("/think-bot-"))).toEqual([]);
  });

  it("promises rightly that a bot written for Think compiles with other imports", () => {
    expect(THINK_BOTS.length).toBeGreaterThan(25);
    const seeds = THINK_BOTS.filter(([file]) => file.startsWith("think-bot-seeds-"));
    const named = seeds.map(([, code]) => /test\/[\w/-]+\.test\.ts/.exec(code)?.[0] ?? "no test");
    expect(named.filter((test) => !existsSync(path.join(root, test)))).toEqual([]);
    expect(complaints.filter((line) => line.includes("/think-bot-"))).toEqual([]);
  });

  it("links only to files that exist", () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?<target>[^)#\s]+)\)/g)]
        .map((match) => match.groups?.["target"] ?? "")
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => !existsSync(path.join(root, path.dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it("links only to headings that exist", () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?<file>[^)#\s:]*)#(?<heading>[^)\s]+)\)/g)]
        .map(({ groups }) => ({ file: groups?.["file"] ?? "", heading: groups?.["heading"] ?? "" }))
        .filter(({ file, heading }) => {
          const target = file === "" ? page : path.join(path.dirname(page), file);
          return target.endsWith(".md") && !headingsOf(read(target)).has(heading);
        })
        .map(({ file, heading }) => `${page}: ${file}#${heading}`),
    );
    expect(broken).toEqual([]);
  });

  it("says that a symbol of Think is the same only if it is there", () => {
    const sources = ["src/index.ts", "src/messengers/index.ts", "providers/telegram/index.ts"];
    const pages = ["think", "messenger-options", "delivery"].map((name) => `docs/reference/${name}.md`);
    const known = new Set(
      [...sources, ...pages, "src/actions/runs/action-host.ts", "docs/files.md"].flatMap(
        (file) => read(file).match(/\w+/g) ?? [],
      ),
    );
    const same = [...read("docs/guides/coming-from-think.md").matchAll(/^\| (?<symbols>[^|]+)\| same/gm)];
    const names = same.flatMap(({ groups }) =>
      [...(groups?.["symbols"] ?? "").matchAll(/`(?:this\.|ctx\.)?(\w+)/g)].map(([, name = ""]) => name),
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => name !== "createWorkersAI" && !known.has(name))).toEqual([]);
  });

  it("keeps the README short", () => {
    expect(read("README.md").split("\n").length).toBeLessThanOrEqual(150);
  });

  it("asks Telegram for the updates that are handled", () => {
    const asked = /these `allowed_updates`:(?<list>[^.]*)\./.exec(read("docs/guides/telegram.md"));
    const list = [...(asked?.groups?.["list"] ?? "").matchAll(/`(\w+)`/g)].map(([, kind]) => kind);
    expect(list).toEqual(allowedUpdates);
  });
});
