import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseJsonc } from "../../ops/serve/worker-config.ts";
import { root, UserFolder, versions } from "./user-folder.ts";

/**
 * The package as a user gets it, installed by hand with nothing but what it demands. `npm run check-package` builds it
 * first.
 */
let user: UserFolder;
let child: ChildProcess | undefined;

/** The newest release of an older major version that users still have. */
const OLDER_TYPESCRIPT = "5.9.3";

beforeAll(async () => {
  user = await UserFolder.create();
  const version = await versions();
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, version(name)]));
  const manifest = {
    private: true,
    type: "module",
    dependencies: { switchboard: `file:${path.basename(user.tarball)}`, ...pick("ai", "zod") },
    devDependencies: {
      ...pick("@cloudflare/workers-types", "@types/node", "typescript", "wrangler"),
      "typescript-older": `npm:typescript@${OLDER_TYPESCRIPT}`,
    },
  };
  await user.write("package.json", [JSON.stringify(manifest)]);
  expect(await user.install()).toMatchObject({ code: 0 });
  for (const name of ["worker.ts", "wrangler.jsonc"]) {
    await cp(path.join(root, "examples/minimal", name), user.file(name));
  }
}, 180_000);

afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "close");
  }
  await user.remove();
});

describe("the installed package", () => {
  it("brings no packages of model providers and chat platforms", async () => {
    const installed = await readdir(user.file("node_modules/@ai-sdk"));
    expect(installed.toSorted()).toEqual(["gateway", "provider", "provider-utils"]);
    const others = await readdir(user.file("node_modules"));
    expect(others.filter((name) => /^(workers-ai-provider|@chat-adapter|openai|@slack)$/.test(name))).toEqual(
      [],
    );
  });

  describe("has declarations for strict settings", () => {
    beforeAll(async () => {
      const settings = {
        compilerOptions: {
          target: "ES2022",
          module: "ESNext",
          moduleResolution: "Bundler",
          types: ["@cloudflare/workers-types", "node"],
          strict: true,
          noEmit: true,
          skipLibCheck: false,
          allowImportingTsExtensions: true,
          exactOptionalPropertyTypes: true,
          noPropertyAccessFromIndexSignature: true,
          noUncheckedIndexedAccess: true,
        },
        include: ["*.ts"],
      };
      await user.write("tsconfig.json", [JSON.stringify(settings)]);
      await user.write("bot.test.ts", [
        'import { testBot } from "switchboard/testing";',
        'import { MyBot } from "./worker.ts";',
        "export const chat = testBot(MyBot);",
      ]);
    });

    it("(typescript)", async () => {
      const tsc = user.file("node_modules/typescript/bin/tsc");
      const { output } = await user.node(tsc, "-p", user.path, "--singleThreaded");
      // Other packages have mistakes of their own; this one and the bot have none.
      const mistakes = output.split("\n").filter((line) => /^\S.*error TS/.test(line));
      expect(mistakes).not.toEqual([]);
      expect(mistakes.filter((line) => !/^node_modules\/(?!switchboard\/)/.test(line))).toEqual([]);
    });

    it("(typescript-older)", async () => {
      // Asks about the package and the bot alone. The command checks all others, too, which takes three times as long.
      await user.write("check.mjs", [
        'import ts from "typescript-older";',
        "const onUnRecoverableConfigFileDiagnostic = ({ messageText }) => { throw new Error(messageText); };",
        "const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic };",
        'const { fileNames, options } = ts.getParsedCommandLineOfConfigFile("tsconfig.json", {}, host);',
        "const program = ts.createProgram(fileNames, options);",
        "const isOurs = ({ fileName }) => !/\\/node_modules\\/(?!switchboard\\/)/.test(fileName);",
        "const files = program.getSourceFiles().filter(isOurs);",
        "const mistakes = [",
        "  ...program.getOptionsDiagnostics(),",
        "  ...program.getGlobalDiagnostics(),",
        "  ...files.flatMap((file) => program.getSyntacticDiagnostics(file)),",
        "  ...files.flatMap((file) => program.getSemanticDiagnostics(file)),",
        "];",
        "const names = files.map(({ fileName }) => fileName);",
        "const texts = mistakes.map(({ file, messageText }) => [file?.fileName, messageText]);",
        "console.log(JSON.stringify({ names, texts }));",
      ]);
      const { output } = await user.node("check.mjs");
      const { names, texts } = JSON.parse(output) as {
        readonly names: readonly string[];
        readonly texts: unknown;
      };
      expect(names).toContain(user.file("worker.ts"));
      expect(names).toContain(user.file("node_modules/switchboard/dist/src/index.d.ts"));
      expect(texts).toEqual([]);
    });
  });

  it("can be deployed without the package of any model", async () => {
    const { code, output } = await user.program("wrangler", "deploy", "--dry-run", "--outdir", "out");
    expect(output).toContain("env.MyBot");
    expect(code).toBe(0);
  });

  it("answers in the simulated Telegram that its command starts", async () => {
    child = spawn(user.file("node_modules/.bin/switchboard"), ["dev", "--json", "--port", "0"], {
      cwd: user.path,
      env: { PATH: process.env.PATH, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.stdout === null) throw new Error("The command has no output.");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const started = parseJsonc(line, "the command's line") as {
      readonly ready: boolean;
      readonly playground: string;
    };
    expect(started.ready).toBe(true);
    const ask = async (method: string, body?: object): Promise<unknown> =>
      (
        await fetch(`${started.playground}/_sim/${method}`, {
          ...(body !== undefined && {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
        })
      ).json();
    const { chats, users } = (await ask("state")) as {
      readonly chats: readonly { readonly id: number }[];
      readonly users: readonly { readonly id: number }[];
    };
    const chatId = chats[0]?.id;
    await ask("sendText", { chatId, userId: users.at(-1)?.id, text: "Hello" });
    const page = await fetch(started.playground);
    expect(await page.text()).toContain("<html");
    expect((await fetch(`${started.playground}/app.js`)).status).toBe(200);
    const fromBot = async () => {
      const { messages } = (await ask(`messages?chatId=${chatId}`)) as {
        readonly messages: readonly { readonly from: { readonly isBot: boolean }; readonly text: string }[];
      };
      return messages.filter(({ from }) => from.isBot);
    };
    await expect.poll(fromBot, { timeout: 20_000 }).toHaveLength(1);
    expect((await fromBot())[0]?.text).not.toBe("");
  });

  const CHAT = [
    'import { testBot } from "switchboard/testing";',
    'const { MyBot } = await import("./worker.ts");',
    "const chat = await testBot(MyBot);",
    'await chat.say("Is it you?");',
    "console.log(await chat.reply());",
    "await chat.bot.close();",
  ];

  it("names the package that a model needs, and works as soon as it is there", async () => {
    await user.write("try.mjs", CHAT);
    const without = await user.node("try.mjs");
    expect(without.output).toContain("npm install @ai-sdk/openai-compatible");
    expect(without.code).toBe(1);
    const name = "@ai-sdk/openai-compatible";
    const added = await user.npm(
      user.path,
      "install",
      "--prefer-offline",
      `${name}@${(await versions())(name)}`,
    );
    expect(added).toMatchObject({ code: 0 });
    expect(await user.node("try.mjs")).toEqual({ code: 0, output: "You said: Is it you?\n" });
  });
});
