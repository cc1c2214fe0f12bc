import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startServedBot } from "../../lab/support/served-bot.ts";

const CONFIG = "test/e2e/bots/adapters/wrangler.jsonc";
const ADAPTERS = ["slack", "discord", "teams", "whatsapp", "gchat", "github", "linear", "telegram"];

/** Stands for all platforms, and refuses everything. */
let platform: Server;
let env: Record<string, string>;
let dataDirectory: string;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  platform = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(platform, "listening");
  env = { PLATFORM_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` };
});
beforeEach(async () => {
  dataDirectory = await mkdtemp(path.join(tmpdir(), "switchboard-adapters-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await rm(dataDirectory, { recursive: true, force: true });
});
afterAll(() => {
  platform.close();
  platform.closeAllConnections();
});

/** Sends a request without a signature to each adapter. One that could not start would answer 503. */
async function refusals(url: string): Promise<Record<string, number>> {
  const answers = ADAPTERS.map(async (name): Promise<[string, number]> => {
    const { status } = await fetch(`${url}/messengers/${name}/webhook`, { method: "POST", body: "{}" });
    return [name, status];
  });
  return Object.fromEntries(await Promise.all(answers));
}

const refused = {
  slack: 401,
  discord: 401,
  teams: 401,
  whatsapp: 401,
  gchat: 401,
  github: 401,
  linear: 400,
  telegram: 401,
};

async function startDev(): Promise<string> {
  const child: ChildProcess = spawn(
    process.execPath,
    ["cli/main.ts", "dev", "--json", "--port", "0", "--config", CONFIG],
    {
      env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: dataDirectory, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  closers.push(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  if (child.stdout === null) throw new Error("The command has no output.");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const started = JSON.parse(line) as { readonly ready: boolean; readonly bot: string };
  expect(started.ready).toBe(true);
  return started.bot;
}

describe("a bot with every adapter", () => {
  it.each([
    ["serve", true],
    ["build, and serve", false],
  ])("starts by %s, and each adapter answers", async (_way, fromSources) => {
    const bot = await startServedBot({ config: CONFIG, env, fromSources });
    closers.push(() => bot.close());
    expect(await refusals(bot.url)).toEqual(refused);
  });

  it("starts by dev, and each adapter answers", async () => {
    expect(await refusals(await startDev())).toEqual(refused);
  });
});
