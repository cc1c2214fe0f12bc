import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../../cli/run-command.ts";
import { botName, TEMPLATES } from "../../../cli/create-bot.ts";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";

const root = path.resolve(import.meta.dirname, "../../..");
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-init-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...parameters: string[]) {
  let output = "";
  let errors = "";
  const code = await runCommand(["init", ...parameters], {
    folder,
    environment: {},
    isInteractive: false,
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
  });
  return { code, output, errors };
}

const read = (...names: string[]): Promise<string> => readFile(path.join(folder, ...names), "utf8");

describe("switchboard init", () => {
  it.each(Object.keys(TEMPLATES))(
    "writes a bot from the template %s that the other commands can run",
    async (template) => {
      const { code, output } = await run("Tea Shop", "--template", template, "--json");
      expect(code).toBe(0);
      expect(JSON.parse(output)).toMatchObject({
        name: "tea-shop",
        files: [
          ".dockerignore",
          ".env",
          ".gitignore",
          "AGENTS.md",
          "README.md",
          "package.json",
          "src/bot.ts",
          "test/bot.test.ts",
          "tsconfig.json",
          "wrangler.jsonc",
        ],
      });
      const config = parseWorkerConfig(await read("Tea Shop", "wrangler.jsonc"), "wrangler.jsonc");
      expect(config).toMatchObject({
        name: "tea-shop",
        main: "src/bot.ts",
        compatibilityFlags: ["nodejs_compat"],
      });
      const code_ = await read("Tea Shop", "src", "bot.ts");
      for (const { className } of config.bindings)
        expect(code_).toContain(`export class ${className} extends Think`);
      const { dependencies, devDependencies, scripts } = JSON.parse(
        await read("Tea Shop", "package.json"),
      ) as Record<string, Record<string, string>>;
      expect(scripts).toMatchObject({
        dev: "switchboard dev",
        test: expect.stringMatching(/^vitest run/) as string,
        deploy: "wrangler deploy",
      });
      // Every package that the bot's files import, in the version that this package is tried with.
      expect({ ...dependencies, ...devDependencies }).toMatchObject({
        "@ai-sdk/openai-compatible": expect.stringMatching(/^\d/),
        ai: expect.stringMatching(/^\d/),
        zod: expect.stringMatching(/^\d/),
        vitest: expect.stringMatching(/^\d/),
        wrangler: expect.stringMatching(/^\d/),
        typescript: expect.stringMatching(/^\d/),
      });
    },
  );

  it("takes the path of a tarball from where the command runs", async () => {
    await writeFile(path.join(folder, "switchboard-1.0.0.tgz"), "");
    const dependency = async () => {
      const manifest = JSON.parse(await read("bots/tea", "package.json")) as {
        readonly dependencies: Readonly<Record<string, string>>;
      };
      await rm(path.join(folder, "bots"), { recursive: true });
      return manifest.dependencies["switchboard"];
    };
    await run("bots/tea", "--package", "switchboard-1.0.0.tgz");
    expect(await dependency()).toBe("file:../../switchboard-1.0.0.tgz");
    await run("bots/tea", "--package", path.join(folder, "switchboard-1.0.0.tgz"));
    expect(await dependency()).toBe("file:../../switchboard-1.0.0.tgz");
    await run("bots/tea", "--package", "1.2.3");
    expect(await dependency()).toBe("1.2.3");
  });

  it("tells coding agents where the documentation is", async () => {
    await run("tea");
    const guide = await read("tea", "AGENTS.md");
    expect(guide).toMatch(/^# tea\n/);
    const files = [...guide.matchAll(/`node_modules\/switchboard\/([^`]+)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(await read("tea", "README.md")).toContain("AGENTS.md");
  });

  it("gives each bot secrets of its own, which nobody else can read and git does not see", async () => {
    await run("one");
    await run("two");
    const secrets = async (name: string): Promise<string[]> =>
      [
        ...(await read(name, ".env")).matchAll(
          /^(?:TELEGRAM_WEBHOOK_SECRET_TOKEN|ADMIN_TOKEN)=([\w-]{32})$/gm,
        ),
      ].map(([, value]) => value ?? "");
    const all = [...(await secrets("one")), ...(await secrets("two"))];
    expect(new Set(all).size).toBe(4);
    expect((await stat(path.join(folder, "one", ".env"))).mode & 0o077).toBe(0);
    expect(await read("one", ".gitignore")).toMatch(/^\.env$/m);
    expect(await read("one", ".dockerignore")).toMatch(/^\.env$/m);
  });

  it("never writes into a folder with files", async () => {
    await mkdir(path.join(folder, "mine", ".git"), { recursive: true });
    await writeFile(path.join(folder, "mine", "notes.txt"), "keep me");
    const { code, errors } = await run("mine");
    expect(code).toBe(1);
    expect(errors).toContain("is not empty (notes.txt)");
    await rm(path.join(folder, "mine", "notes.txt"));
    expect((await run("mine")).code).toBe(0);
  });

  it("says what is missing without a terminal, and refuses an unknown template", async () => {
    expect(await run()).toMatchObject({
      code: 1,
      errors: expect.stringContaining("switchboard init my-bot"),
    });
    expect(await run("bot", "--template", "huge")).toMatchObject({ code: 2 });
  });

  it.each([
    ["My Bot", "my-bot"],
    ["Ünï_côde!", "n-c-de"],
    ["2nd", "nd"],
    ["...", "my-bot"],
    ["a".repeat(80), "a".repeat(50)],
  ])("names the bot of the folder %j", (given, name) => {
    expect(botName(given)).toBe(name);
  });

  it("is what `npm create switchboard` runs", async () => {
    await cp(path.join(root, "packages/create-switchboard"), path.join(folder, "create"), {
      recursive: true,
    });
    const installed = path.join(folder, "create/node_modules/switchboard");
    await mkdir(path.join(installed, "dist"), { recursive: true });
    await writeFile(
      path.join(installed, "package.json"),
      JSON.stringify({ name: "switchboard", type: "module", bin: { switchboard: "dist/main.js" } }),
    );
    await writeFile(
      path.join(installed, "dist/main.js"),
      "console.log(JSON.stringify(process.argv.slice(2)))",
    );
    const { stdout, status } = spawnSync(
      process.execPath,
      [path.join(folder, "create/index.js"), "my-bot", "-t", "tools"],
      {
        encoding: "utf8",
      },
    );
    expect({ status, parameters: JSON.parse(stdout) }).toEqual({
      status: 0,
      parameters: ["init", "my-bot", "-t", "tools"],
    });
  });
});
