import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { moveData } from "../../ops/data/bot-names.ts";
import { commandFile, startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { slownessOf } from "../support/slowness.ts";

const root = path.resolve(import.meta.dirname, "../..");
const config = path.join(root, "test/worker/probe/wrangler.jsonc");
const bots: ServedBot[] = [];
const folders: string[] = [];

async function serveProbe(env: Record<string, string> = {}): Promise<ServedBot> {
  const bot = await startServedBot({ config, env });
  bots.push(bot);
  return bot;
}

afterEach(async () => {
  for (const bot of bots.splice(0)) await bot.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Runs `serve` to its end, for the cases in which it refuses to start. */
async function refuse(
  env: Record<string, string>,
  configFile = config,
  ...more: readonly string[]
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [commandFile(), "serve", "--config", configFile, ...more], {
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

/** A worker in a folder of its own, which ends with this code. */
async function workerThatEndsWith(code: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-worker-"));
  folders.push(folder);
  const entry = `import { DurableObject } from "cloudflare:workers";\nexport class Probe extends DurableObject {}\n${code}\n`;
  await writeFile(path.join(folder, "worker.ts"), entry);
  const configuration = {
    name: "probe",
    main: "./worker.ts",
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "Probe", class_name: "Probe" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Probe"] }],
  };
  await writeFile(path.join(folder, "wrangler.json"), JSON.stringify(configuration));
  return path.join(folder, "wrangler.json");
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-serve-"));
  folders.push(folder);
  return folder;
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
    expect(health).toEqual({
      greeting: "from outside",
      names: ["ADMIN_TOKEN", "GREETING", "PUBLIC_NETWORK", "Probe", "TELEGRAM_BOT_TOKEN"],
    });
    expect(bot.logs()).not.toMatch(/hidden|from outside/);
  });

  it("reads .dev.vars and .env beside the configuration, after the environment", async () => {
    const configFile = await workerThatEndsWith(
      "export default { fetch: (request, { Probe: _, ADMIN_TOKEN: __, ...env }) => Response.json(env) };",
    );
    await writeFile(path.join(path.dirname(configFile), ".env"), "ONE=env\nTWO=env\nMODEL=env\n");
    await writeFile(path.join(path.dirname(configFile), ".dev.vars"), "TWO=dev\n");
    const bot = await startServedBot({
      fromSources: true,
      config: configFile,
      env: { MODEL: "shell", SECRET_OF_SHELL: "x" },
    });
    bots.push(bot);
    expect(await (await fetch(`${bot.url}/health`)).json()).toEqual({
      // The door to public addresses alone, which every served bot has.
      PUBLIC_NETWORK: {},
      ONE: "env",
      TWO: "dev",
      MODEL: "shell",
    });
  });

  it("says in JSON that it runs, stops and has stopped, and tells other commands where it is", async () => {
    const bot = await serveProbe({ LOG_LEVEL: "silent" });
    const control = path.join(bot.dataDirectory, "control.json");
    expect(JSON.parse(await readFile(control, "utf8"))).toEqual({
      url: bot.url,
      pid: bot.pid,
      workerdPid: expect.any(Number),
      adminToken: expect.stringMatching(/^[\w-]{32}$/),
    });
    expect((await stat(control)).mode & 0o077).toBe(0);
    await bot.stop();
    const lines = bot
      .logs()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.slice(-3)).toMatchObject([
      { level: "info", event: "serve.running", url: bot.url, isReady: true },
      { event: "serve.stopping" },
      { event: "serve.stopped" },
    ]);
    expect(existsSync(control)).toBe(false);
  });

  it("refuses an empty memory after a change of the bot's name, until its data is moved", async () => {
    const configFile = await workerThatEndsWith("export default { fetch: () => Response.json({}) };");
    const dataDirectory = await newFolder();
    const serve = { fromSources: true, config: configFile, dataDirectory };
    const first = await startServedBot(serve);
    await first.stop();
    await mkdir(path.join(dataDirectory, "objects", "probe-Probe"), { recursive: true });
    const text = await readFile(configFile, "utf8");
    await writeFile(configFile, text.replace('"probe"', '"renamed"'));
    // Each release may have a folder of its own.
    const release = path.join(await newFolder(), "release-2");
    await cp(path.dirname(configFile), release, { recursive: true });
    const moved = path.join(release, path.basename(configFile));
    const { code, output } = await refuse({ PORT: "0", DATA_DIR: dataDirectory }, moved);
    expect(code).toBe(1);
    expect(output.trim().split("\n").at(-1)).toMatch(/switchboard data move probe renamed.*--new-bot/);
    await moveData(dataDirectory, "probe", "renamed", Date.now);
    bots.push(await startServedBot(serve));
    const workers = path.join(dataDirectory, "worker");
    const [generation = ""] = await readdir(workers);
    const configuration = await readFile(path.join(workers, generation, "workerd.capnp"), "utf8");
    expect(configuration).toContain('uniqueKey = "probe-Probe"');
  });

  it("keeps no process of the bundler, which would need much memory", async () => {
    const bot = await startServedBot({ config, fromSources: true });
    bots.push(bot);
    const { stdout } = spawnSync("ps", ["-A", "-o", "ppid=,args="], { encoding: "utf8" });
    const children = stdout.split("\n").filter((line) => line.trim().startsWith(`${bot.pid} `));
    expect(children.some((line) => line.includes("workerd"))).toBe(true);
    expect(children.filter((line) => line.includes("esbuild"))).toEqual([]);
  });

  it("fires alarms that came due while it was dead, without a request", async () => {
    const bot = await serveProbe();
    await fetch(`${bot.url}/alarms?delayMs=2000`);
    await bot.kill("SIGKILL");
    expect(bot.logs()).not.toContain("alarm of");
    await bot.restart();
    await bot.logged(/"text":"alarm of root"/);
    await bot.logged(/"text":"alarm of root\/thread"/);
  });

  it("ends within five seconds of SIGTERM while a response is open", async () => {
    const bot = await serveProbe();
    const slowness = await slownessOf(() => bot.restart());
    const response = await fetch(`${bot.url}/stall`);
    await response.body?.getReader().read();
    const startedAt = performance.now();
    expect(await bot.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000 * slowness);
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
    expect(output.trim()).toBe(`Port ${port} on 127.0.0.1 is in use; set PORT or give --port.`);
  });

  it("refuses a data directory that another server uses", async () => {
    const bot = await serveProbe();
    // Its port is taken as well, but that is not what is to be changed.
    for (const port of ["0", new URL(bot.url).port]) {
      const { code, output } = await refuse({ PORT: port, DATA_DIR: bot.dataDirectory });
      expect(code).toBe(1);
      expect(output).toContain(`An instance already runs on the data directory ${bot.dataDirectory};`);
    }
  });

  it("says which options there are when one is mistyped", async () => {
    const { code, output } = await refuse({ PORT: "0" }, config, "--confg", "x");
    expect(code).toBe(2);
    expect(output).toMatch(/^error: unknown option '--confg'\n\(Did you mean --config\?\)/);
    expect(output).not.toContain("    at ");
  });

  it("names a configuration that does not exist", async () => {
    const { code, output } = await refuse({ PORT: "0" }, "/nowhere/wrangler.jsonc");
    expect(code).toBe(1);
    expect(output).toMatch(/^There is no \/nowhere\/wrangler\.jsonc\. .*--config/);
  });

  it("refuses a worker without a default export in one sentence, before anything runs", async () => {
    const worker = await workerThatEndsWith("");
    const { code, output } = await refuse({ PORT: "0", DATA_DIR: await newFolder() }, worker);
    expect(code).toBe(1);
    expect(output).toContain('"text":"bundling the worker"');
    expect(output.trimEnd().split("\n").at(-1)).toBe(
      `The worker of ${worker} has no default export, so that it can answer nothing. Add to its entry: export default createWorker(Probe);`,
    );
  });

  it("says where a worker cannot be bundled, in plain text", async () => {
    const worker = await workerThatEndsWith("export default {");
    const { code, output } = await refuse({ PORT: "0", DATA_DIR: await newFolder() }, worker);
    expect(code).toBe(1);
    expect(output).toContain(`could not be bundled:\n`);
    expect(output).toMatch(/\n\s+\S*\/switchboard-worker-\w+\/worker\.ts:4:0:\n/);
    for (const foreign of ["\u001B", ".project", "Logs were written"]) expect(output).not.toContain(foreign);
  });

  it.each([
    ["its class", "export default Probe;"],
    ["a function", "export default () => new Response();"],
  ])("ends at once with a worker whose default export is %s", async (_name, ending) => {
    const { code, output } = await refuse(
      { PORT: "0", DATA_DIR: await newFolder() },
      await workerThatEndsWith(ending),
    );
    expect(code).toBe(1);
    expect(output.trim().split("\n").length).toBeLessThan(25);
    expect(output.trim().split("\n").at(-1)).toBe(
      "The worker's default export is a class or a function. Its entry has to end with: export default createWorker(MyBot);",
    );
  });

  it("ends at once with a worker that throws when it is loaded", async () => {
    const { code, output } = await refuse(
      { PORT: "0", DATA_DIR: await newFolder() },
      await workerThatEndsWith('throw new Error("not today"); export default {};'),
    );
    expect(code).toBe(1);
    expect(output).toContain("Error: not today");
    expect(output.trim().split("\n").at(-1)).toMatch(/^workerd ended with code 1 before it listened/);
  });

  it("refuses two messengers with the same id, before anything runs", async () => {
    const worker = await workerThatEndsWith(
      "const defineMessengers = (it) => it;\nconst all = defineMessengers({ telegram: { a: 1 }, telegram: {} });\nexport default { fetch: () => Response.json(all) };",
    );
    const { code, output } = await refuse({ PORT: "0", DATA_DIR: await newFolder() }, worker);
    expect(code).toBe(1);
    expect(output.trimEnd().split("\n").at(-1)).toBe(
      'Two messengers have the id "telegram", and the first one would be lost: worker.ts:4. Give one of them another id.',
    );
  });

  it("says at every start that one of two messengers with the same id is lost", async () => {
    const config = await workerThatEndsWith(
      "const messengers = { telegram: 1, telegram: 2 };\nexport default { fetch: () => Response.json(messengers) };",
    );
    const bot = await startServedBot({ config, dataDirectory: await newFolder(), fromSources: true });
    bots.push(bot);
    const warning = String.raw`\"telegram\" stands twice in one object, and the first one is lost: worker.ts:3`;
    expect(bot.logs().split(warning).length).toBe(2);
    await bot.restart();
    expect(bot.logs().split(warning).length).toBe(3);
  });

  it("keeps serving a worker that is not one of createWorker, and says what it answers", async () => {
    const folder = await newFolder();
    const bot = await startServedBot({
      config: await workerThatEndsWith('export default { fetch: () => new Response("", { status: 404 }) };'),
      dataDirectory: folder,
    });
    bots.push(bot);
    expect(bot.logs()).toContain("but GET /health answers 404");
    expect((await fetch(`${bot.url}/any`)).status).toBe(404);
  });

  it("names DATA_DIR when it is not a folder that can be made", async () => {
    const file = path.join(await newFolder(), "a-file");
    await writeFile(file, "");
    const { code, output } = await refuse({ PORT: "0", DATA_DIR: path.join(file, "data") });
    expect(code).toBe(1);
    expect(output.trim()).toMatch(/\(DATA_DIR\) is not writable for this user \(ENOTDIR, user id /);
    expect(output.trim().split("\n").length).toBeLessThanOrEqual(2);
  });
});

/** Why another user cannot be played here; nothing where that works. */
const cannotSwitch =
  process.getuid?.() !== 0
    ? "not root"
    : spawnSync("setpriv", ["--version"]).error === undefined
      ? undefined
      : "no setpriv";

describe.skipIf(cannotSwitch !== undefined)(
  `serve as a user who owns nothing${cannotSwitch === undefined ? "" : ` (skipped: ${cannotSwitch})`}`,
  () => {
    const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

    /** Returns the output of a process that is stopped once it says this. */
    async function untilSaid(child: ChildProcessWithoutNullStreams, until: RegExp): Promise<string> {
      const closed = once(child, "close");
      let output = "";
      const collect = (chunk: Buffer): void => {
        output += chunk.toString();
        if (until.test(output)) child.kill("SIGTERM");
      };
      child.stdout.on("data", collect);
      child.stderr.on("data", collect);
      await closed;
      return output;
    }

    function serveAsNobody(data: string, until: RegExp): Promise<string> {
      const [setpriv = "", ...rights] = NOBODY;
      const command = [process.execPath, "cli/main.ts", "serve", "--config", config];
      const environment = { PATH: process.env.PATH, HOME: "/nonexistent", DATA_DIR: data, PORT: "0" };
      return untilSaid(spawn(setpriv, [...rights, ...command], { cwd: root, env: environment }), until);
    }

    it("bundles and runs, and writes to its data directory only", async () => {
      const data = await newFolder();
      await chmod(data, 0o777);
      const output = await serveAsNobody(data, /ready on/);
      expect(output).toMatch(/^\{.*"text":"bundling the worker"\}\n\{.*"text":"ready on http/);
    });

    it("runs a build on a read-only root, as the systemd unit does", async () => {
      const build = path.join(await newFolder(), "build");
      expect(
        spawnSync(process.execPath, ["cli/main.ts", "build", "-c", config, "-o", build], { cwd: root })
          .status,
      ).toBe(0);
      const data = await newFolder();
      await chmod(data, 0o777);
      for (const folder of [build, path.dirname(build)]) await chmod(folder, 0o755);
      // Only the storage can be written.
      const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind / && exec "$@"';
      const unit = await readFile(path.join(root, "examples/deploy/my-bot.service"), "utf8");
      const words = /^ExecStart=\S+\/switchboard (.*)$/m.exec(unit)?.[1]?.split(" ") ?? [];
      const parameters = words.map((word) => (word === "build" ? build : word));
      const output = await untilSaid(
        spawn(
          "unshare",
          ["--mount", "sh", "-c", readOnly, data, ...NOBODY, process.execPath, "cli/main.ts", ...parameters],
          { cwd: root, env: { PATH: process.env.PATH, DATA_DIR: data, PORT: "0" } },
        ),
        /ready on/,
      );
      expect(output).toMatch(/^\{.*"text":"ready on http/);
    });

    it("says which folder it cannot write to", async () => {
      const data = await newFolder();
      await chmod(data, 0o755);
      expect(await serveAsNobody(data, /ready on/)).toBe(
        `${data} (DATA_DIR) is not writable for this user (EACCES, user id 65534). Set DATA_DIR to a folder that it may write to.\n`,
      );
    });
  },
);
