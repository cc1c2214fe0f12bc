import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readBotEnvironment, variableFilesOf } from "../../ops/serve/env-files.ts";
import { startBot, type BotProcess } from "../../playground/bot-process.ts";

let folder: string;
let bot: BotProcess;
const said: string[] = [];
let heard: () => void = () => {};

/** A worker that counts in its storage and answers with a greeting. */
const CODE = `import { DurableObject } from "cloudflare:workers";
import { GREETING } from "./greeting.ts";
export class Counter extends DurableObject {
  async next(): Promise<number> {
    const count = Number((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return count;
  }
}
export default {
  async fetch(request: Request, env: any): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/health" && GREETING.startsWith("?")) {
      return Response.json({ problem: { code: "unsure", message: GREETING } }, { status: 503 });
    }
    if (pathname !== "/") return new Response();
    return new Response(GREETING + (env.NAME ?? "") + " " + (await env.Counter.getByName("one").next()));
  },
};
`;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-dev-"));
  const configuration = {
    name: "reloaded",
    main: "worker.ts",
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "Counter", class_name: "Counter" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
  };
  await writeFile(path.join(folder, "wrangler.jsonc"), JSON.stringify(configuration));
  await writeFile(path.join(folder, "worker.ts"), CODE);
  await writeFile(path.join(folder, "greeting.ts"), 'export const GREETING = "Hello";\n');
  bot = await startBot({
    ...(await variables()),
    variables,
    variableFiles: variableFilesOf(folder),
    dataDirectory: path.join(folder, "data"),
    port: 0,
    configFile: path.join(folder, "wrangler.jsonc"),
    say: (line) => {
      said.push(line);
      heard();
    },
    onLine: () => {},
  });
});
afterEach(async () => {
  await bot.stop();
  said.length = 0;
  await rm(folder, { recursive: true });
});

async function variables() {
  const { names, values } = await readBotEnvironment(folder, { PATH: process.env.PATH });
  return { environment: values, passedOn: names };
}

async function says(pattern: RegExp): Promise<string> {
  for (;;) {
    const line = said.find((candidate) => pattern.test(candidate));
    if (line !== undefined) return line;
    await new Promise<void>((resolve) => (heard = resolve));
  }
}

const ask = async (): Promise<string> => (await fetch(bot.url)).text();

it("loads the bot again when a file of it is saved, and keeps its state", async () => {
  expect(await ask()).toBe("Hello 1");
  await writeFile(path.join(folder, "greeting.ts"), 'export const GREETING = "Good evening";\n');
  await says(/^Reloaded in /);
  expect(await ask()).toBe("Good evening 2");
});

it("loads the bot again with its variables when .env is saved or removed", async () => {
  expect(await ask()).toBe("Hello 1");
  await writeFile(path.join(folder, ".env"), "NAME=, Ada\n");
  await says(/^Reloaded in /);
  expect(await ask()).toBe("Hello, Ada 2");
  said.length = 0;
  await rm(path.join(folder, ".env"));
  await says(/^Reloaded in /);
  expect(await ask()).toBe("Hello 3");
});

it("keeps the running bot when a saved file is broken, says where, and goes on with the next save", async () => {
  await writeFile(path.join(folder, "greeting.ts"), "export const GREETING = ;\n");
  expect(await says(/could not be bundled/)).toContain("greeting.ts:1:24");
  expect(await ask()).toBe("Hello 1");
  await writeFile(
    path.join(folder, "greeting.ts"),
    'throw new Error("not today");\nexport const GREETING = "";\n',
  );
  await says(/^workerd ended with code 1 before it listened/);
  // The bot before answers again.
  expect(await ask()).toBe("Hello 2");
  const classAsDefault = CODE.replace(/export default [^]*$/, "export default class extends Counter {}\n");
  await writeFile(path.join(folder, "worker.ts"), classAsDefault);
  await says(/default export is a class/);
  expect(await ask()).toBe("Hello 3");
  await writeFile(path.join(folder, "worker.ts"), CODE);
  await writeFile(path.join(folder, "greeting.ts"), 'export const GREETING = "Welcome back";\n');
  await says(/^Reloaded in /);
  expect(await ask()).toBe("Welcome back 4");
});

it("says with the reload that the bot cannot answer now, and that it can again", async () => {
  await writeFile(path.join(folder, "greeting.ts"), 'export const GREETING = "? Choose a greeting.";\n');
  expect(await says(/^Reloaded in /)).toMatch(/ s, but the bot cannot answer: \? Choose a greeting\.$/);
  said.length = 0;
  await writeFile(path.join(folder, "greeting.ts"), 'export const GREETING = "Hello again";\n');
  expect(await says(/^Reloaded in /)).toMatch(/ s, and the bot can answer again\.$/);
  expect(said.join("\n")).not.toContain("not ready");
});

it("notices the repair of a file that is new, or was missing", async () => {
  await writeFile(path.join(folder, "greeting.ts"), 'export { GREETING } from "./words.ts";\n');
  expect(await says(/could not be bundled/)).toContain("words.ts");
  said.length = 0;
  await writeFile(path.join(folder, "words.ts"), "export const GREETING = ;\n");
  expect(await says(/could not be bundled/)).toContain("words.ts:1:24");
  await writeFile(path.join(folder, "words.ts"), 'export const GREETING = "New words";\n');
  await says(/^Reloaded in /);
  expect(await ask()).toBe("New words 1");
});
