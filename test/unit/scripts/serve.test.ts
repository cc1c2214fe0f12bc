import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startServedBot, type ServedBot } from "../../support/served-bot.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const config = path.join(root, "test/worker/probe/wrangler.jsonc");
const bots: ServedBot[] = [];

async function serveProbe(env: Record<string, string> = {}): Promise<ServedBot> {
  const bot = await startServedBot({ config, env });
  bots.push(bot);
  return bot;
}

afterEach(async () => {
  for (const bot of bots.splice(0)) await bot.close();
});

/** Runs `serve` to its end, for the cases in which it refuses to start. */
async function refuse(
  env: Record<string, string>,
  configFile = config,
  ...more: readonly string[]
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ["scripts/serve.ts", "--config", configFile, ...more], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

async function refusesConnections(url: string): Promise<boolean> {
  return fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) }).then(
    () => false,
    () => true,
  );
}

describe("serve", () => {
  it("passes the bot's variables to the worker, and never prints them", async () => {
    const bot = await serveProbe({
      GREETING: "from outside",
      TELEGRAM_BOT_TOKEN: "12:hidden",
      SECRET_OF_SHELL: "x",
    });
    const health: unknown = await (await fetch(`${bot.url}/health`)).json();
    expect(health).toEqual({ greeting: "from outside", names: ["GREETING", "Probe", "TELEGRAM_BOT_TOKEN"] });
    expect(bot.logs()).not.toMatch(/hidden|from outside/);
  });

  it("fires alarms that came due while it was dead, without a request", async () => {
    const bot = await serveProbe();
    await fetch(`${bot.url}/alarms?delayMs=250`);
    await bot.kill("SIGKILL");
    expect(bot.logs()).not.toContain("alarm of");
    await bot.restart();
    await bot.logged(/alarm of root\n/);
    await bot.logged(/alarm of root\/thread\n/);
  });

  it("ends within five seconds of SIGTERM while a response is open", async () => {
    const bot = await serveProbe();
    const response = await fetch(`${bot.url}/stall`);
    await response.body?.getReader().read();
    const startedAt = performance.now();
    expect(await bot.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await refusesConnections(bot.url)).toBe(true);
  });

  it("leaves nothing behind when only its own process is killed", async () => {
    const bot = await serveProbe();
    process.kill(bot.pid, "SIGKILL");
    await bot.restart();
    expect((await fetch(`${bot.url}/health`)).status).toBe(200);
  });

  it("refuses a port that is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, output } = await refuse({ PORT: String(port) });
    server.close();
    expect(code).toBe(1);
    expect(output.trim()).toBe(`[serve] Port ${port} on 127.0.0.1 is in use; set PORT or give --port.`);
  });

  it("refuses a data directory that another server uses", async () => {
    const bot = await serveProbe();
    // Its port is taken as well, but that is not what is to be changed.
    for (const port of ["0", new URL(bot.url).port]) {
      const { code, output } = await refuse({ PORT: port, DATA_DIR: bot.dataDirectory });
      expect(code).toBe(1);
      expect(output).toContain(
        `[serve] An instance already runs on the data directory ${bot.dataDirectory};`,
      );
    }
  });

  it("says which options there are when one is mistyped", async () => {
    const { code, output } = await refuse({ PORT: "0" }, config, "--confg", "x");
    expect(code).toBe(1);
    expect(output).toMatch(/^Unknown option '--confg'\.\nOptions of npm run serve:\n {2}--config <value> /);
    expect(output).not.toContain("    at ");
  });

  it("names a configuration that does not exist", async () => {
    const { code, output } = await refuse({ PORT: "0" }, "/nowhere/wrangler.jsonc");
    expect(code).toBe(1);
    expect(output).toMatch(/^\[serve\] The configuration cannot be read: .*\/nowhere\/wrangler\.jsonc'\n$/);
  });
});
