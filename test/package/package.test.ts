import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseJsonc } from "../../scripts/serve/worker-config.ts";

/**
 * The package as a user gets it: packed, and installed into an empty folder outside of the repository. Packages come
 * from npm's cache, where the repository's own installation has put most of them. `npm run check-package` builds it first.
 */
const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
let folder: string;
let child: ChildProcess | undefined;

/** The newest release of an older major version that users still have. */
const OLDER_TYPESCRIPT = "5.9.3";

async function versions(): Promise<Readonly<Record<string, string>>> {
  const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return manifest.devDependencies;
}

/** Runs a program of the user's folder. Returns its exit code and output. */
async function inFolder(program: string, ...parameters: string[]) {
  return run(path.join(folder, "node_modules/.bin", program), parameters, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WRANGLER_SEND_METRICS: "false", CI: "1" },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-user-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  const {
    ai,
    zod,
    typescript,
    wrangler,
    "@cloudflare/workers-types": types,
    "@types/node": node,
  } = await versions();
  await writeFile(
    path.join(folder, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies: { switchboard: "file:switchboard-0.1.0.tgz", ai, zod },
      devDependencies: {
        "@cloudflare/workers-types": types,
        "@types/node": node,
        typescript,
        "typescript-older": `npm:typescript@${OLDER_TYPESCRIPT}`,
        wrangler,
      },
    }),
  );
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder });
  for (const name of ["worker.ts", "wrangler.jsonc"]) {
    await cp(path.join(root, "examples/minimal", name), path.join(folder, name));
  }
}, 180_000);

afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "close");
  }
  await rm(folder, { recursive: true, force: true });
});

describe("the installed package", () => {
  it.each(["typescript", "typescript-older"])(
    "has declarations for strict settings (%s)",
    async (compiler) => {
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
      await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(settings));
      await writeFile(
        path.join(folder, "bot.test.ts"),
        'import { testBot } from "switchboard/testing";\nimport { MyBot } from "./worker.ts";\nexport const chat = testBot(MyBot);\n',
      );
      const tsc = path.join(folder, "node_modules", compiler, "bin/tsc");
      const output = await run(process.execPath, [tsc, "-p", folder], { cwd: folder }).then(
        () => "",
        (error: { readonly stdout: string }) => error.stdout,
      );
      // Other packages may have mistakes of their own; this one and the bot have none.
      const ours = output
        .split("\n")
        .filter((line) => /^\S.*error TS/.test(line) && !/^node_modules\/(?!switchboard\/)/.test(line));
      expect(ours).toEqual([]);
    },
  );

  it("can be deployed", async () => {
    const { code, output } = await inFolder("wrangler", "deploy", "--dry-run", "--outdir", "out");
    expect(output).toContain("env.MyBot");
    expect(code).toBe(0);
  });

  it("answers in the simulated Telegram that its command starts", async () => {
    child = spawn(path.join(folder, "node_modules/.bin/switchboard"), ["dev", "--json", "--port", "0"], {
      cwd: folder,
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
    const fromBot = async () => {
      const { messages } = (await ask(`messages?chatId=${chatId}`)) as {
        readonly messages: readonly { readonly from: { readonly isBot: boolean }; readonly text: string }[];
      };
      return messages.filter(({ from }) => from.isBot);
    };
    await expect.poll(fromBot, { timeout: 20_000 }).toHaveLength(1);
    expect((await fromBot())[0]?.text).not.toBe("");
  });

  it("lets a test chat with the bot", async () => {
    await writeFile(
      path.join(folder, "try.mjs"),
      [
        'import { testBot } from "switchboard/testing";',
        'const { MyBot } = await import("./worker.ts");',
        "const chat = await testBot(MyBot);",
        'await chat.say("Is it you?");',
        "console.log(await chat.reply());",
        "await chat.bot.close();",
      ].join("\n"),
    );
    const { stdout } = await run(process.execPath, ["try.mjs"], { cwd: folder });
    expect(stdout).toBe("You said: Is it you?\n");
  });
});
