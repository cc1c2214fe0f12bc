/**
 * `npm run serve`: serves the bot alone, in the foreground, on one machine.
 *
 *   node scripts/serve.ts [--config wrangler.jsonc] [--port 8787] [--exit-with-stdin]
 *
 * Bundles the worker of the configuration, and lets workerd serve it with its storage on disk. Reads HOST (127.0.0.1),
 * PORT (8787; 0 picks a free one), DATA_DIR (.data), CACHE_DIR (a folder in DATA_DIR) and the bot's own variables, also
 * from `.dev.vars` and `.env` beside the configuration.
 */
import { randomBytes } from "node:crypto";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readOptions } from "./command-line/read-options.ts";
import { bundleWorker, writeAtomically } from "./serve/bundle.ts";
import type { Bundle } from "./serve/bundle.ts";
import { removeControl, writeControl } from "./serve/control-file.ts";
import { lockDataDirectory } from "./serve/data-lock.ts";
import { readBotEnvironment } from "./serve/env-files.ts";
import { bindingNames, undeclaredNames } from "./serve/environment.ts";
import { askHealth, firstHealth } from "./serve/health.ts";
import type { Health } from "./serve/health.ts";
import { createServeLog, type ServeLog } from "./serve/log/serve-log.ts";
import { createWorkerLog } from "./serve/log/create-worker-log.ts";
import { isPortFree, parsePort } from "./serve/port.ts";
import { askFacts } from "./serve/running-bot.ts";
import { ServeError } from "./serve/serve-error.ts";
import { shortPath } from "./serve/short-path.ts";
import { inFolder } from "./serve/storage-errors.ts";
import { superviseWorkerd } from "./serve/supervisor.ts";
import { stopWithParent } from "./serve/stop-with-parent.ts";
import { parseWorkerConfig } from "./serve/worker-config.ts";
import { findWorkerd } from "./serve/workerd-binary.ts";
import { writeWorkerdConfig } from "./serve/workerd-config.ts";

const DEFAULT_PORT = 8787;

/** Longest time to wait for a port that an earlier server may still hold. */
const PORT_WAIT_MS = 1_500;

/**
 * Wait before the second health check: a platform may refuse the bot's token shortly after the first one. Later checks
 * are rarer.
 */
const SECOND_LOOK_MS = 3_000;
const LOOK_EVERY_MS = 30_000;

const root = path.resolve(import.meta.dirname, "..");

const serveLog = createServeLog({
  isTerminal: process.stdout.isTTY,
  write: (line) => void process.stdout.write(`${line}\n`),
  now: Date.now,
});
const log: ServeLog["say"] = (...said) => serveLog.say(...said);

async function main(): Promise<void> {
  const values = readOptions("npm run serve", {
    config: { type: "string", about: "the bot's wrangler configuration (wrangler.jsonc)" },
    port: { type: "string", about: "the port; wins over PORT (8787)" },
    "exit-with-stdin": { type: "boolean", default: false, about: "end when standard input does" },
  });
  const configFile = path.resolve(values.config ?? path.join(root, "wrangler.jsonc"));
  // workerd reads the variables from the environment that it inherits.
  const ofFiles = await readBotEnvironment(path.dirname(configFile), process.env);
  Object.assign(process.env, ofFiles.values);
  // Commands on this machine find it in the data directory.
  const adminToken = (process.env.ADMIN_TOKEN ||= randomBytes(24).toString("base64url"));
  const host = process.env.HOST || "127.0.0.1";
  const port = parsePort(
    values.port ?? (process.env.PORT || String(DEFAULT_PORT)),
    values.port ? "--port" : "PORT",
  );
  const dataDirectory = path.resolve(process.env.DATA_DIR || path.join(root, ".data"));

  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  process.on("SIGINT", () => stop.abort());
  stopWithParent({ stdin: values["exit-with-stdin"], stop: () => stop.abort() });
  const exitAtOnce = (): void => process.exit(0);
  stop.signal.addEventListener("abort", exitAtOnce);

  const config = parseWorkerConfig(await readConfig(configFile), path.relative(process.cwd(), configFile));
  if (config.unsupported.length > 0) {
    log(`not available locally, left out: ${config.unsupported.join(", ")}`);
  }
  for (const { className, sqlite } of config.classes) {
    if (!sqlite) log(`${className} has no SQLite ("new_classes"); a class that extends Think needs it`);
  }
  const binary = findWorkerd();
  const data = { folder: dataDirectory, variable: "DATA_DIR" };
  const objectsDirectory = path.join(dataDirectory, "objects");
  await inFolder(data, () => mkdir(objectsDirectory, { recursive: true }));
  const lock = await lockDataDirectory(dataDirectory);
  await waitForPort(port, host);
  const bundle = await makeBundle(configFile, dataDirectory);
  for (const warning of bundle.warnings) log(warning);
  const worker = await inFolder(data, () =>
    prepareWorker({ bundle, configFile, config, dataDirectory, named: ofFiles.names }),
  );

  let hasListened = false;
  const workerLog = createWorkerLog({ ...worker, environment: process.env, isStarting: () => !hasListened });
  const supervisor = superviseWorkerd({
    binary,
    configFile: worker.file,
    objectsDirectory,
    host,
    port,
    log,
    onOutput: (stdout, stderr, onWords) => void workerLog.follow(stdout, stderr, onWords),
  });
  stop.signal.removeEventListener("abort", exitAtOnce);
  stop.signal.addEventListener("abort", () => {
    log("stopping: what is not finished goes on at the next start", "serve.stopping");
    void supervisor.stop();
  });
  try {
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${await supervisor.listening}`;
    hasListened = true;
    await writeControl(dataDirectory, { url, pid: process.pid, adminToken });
    await reportHealth({ url, dataDirectory: shortPath(dataDirectory), adminToken, stopped: stop.signal });
    await supervisor.ended;
  } catch (error) {
    if (!stop.signal.aborted) {
      await supervisor.stop().catch(() => undefined);
      throw error;
    }
    await supervisor.ended;
  }
  await removeControl(dataDirectory);
  log("stopped", "serve.stopped");
  lock.close();
  process.exit(0);
}

function makeBundle(configFile: string, dataDirectory: string): Promise<Bundle> {
  const given = process.env.CACHE_DIR;
  const folder = given ? path.resolve(given) : path.join(dataDirectory, "cache");
  return inFolder({ folder, variable: given ? "CACHE_DIR" : "DATA_DIR" }, () =>
    bundleWorker({ configFile, root, cacheDirectory: folder, onBuild: () => log("bundling the worker") }),
  );
}

interface PreparedWorker {
  /** Path of workerd's configuration. */
  readonly file: string;
  /** Path of the bundle's entry. Its source map is in the same folder. */
  readonly entryFile: string;
  /** Base folder of the paths in the source map. */
  readonly sourcesFrom: string;
}

/** Copies bundle and configuration into the data directory, so that a restart of workerd needs nothing else. */
async function prepareWorker(options: {
  readonly bundle: Bundle;
  readonly configFile: string;
  readonly config: ReturnType<typeof parseWorkerConfig>;
  readonly dataDirectory: string;
  /** Variables of the bot's files. It gets them without declaring them. */
  readonly named: readonly string[];
}): Promise<PreparedWorker> {
  const { bundle, config, configFile, dataDirectory, named } = options;
  const directory = path.join(dataDirectory, "worker");
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const module of bundle.modules) {
    await cp(path.join(bundle.directory, module.name), path.join(directory, module.name), {
      recursive: true,
    });
  }
  const file = path.join(directory, "workerd.capnp");
  const environmentNames = bindingNames(process.env, [...Object.keys(config.variables), ...named]);
  const entryName = bundle.modules[0]?.name ?? "worker.js";
  const entryFile = path.join(directory, entryName);
  // The cache may remove the bundle while it is served.
  await cp(path.join(bundle.directory, `${entryName}.map`), `${entryFile}.map`).catch(ignoreMissing);
  const code = await readFile(entryFile, "utf8");
  const undeclared = undeclaredNames(code, process.env, environmentNames);
  if (undeclared.length > 0) {
    const names = undeclared.join(", ");
    log(
      `set, but the bot does not get them, because "vars" of ${shortPath(configFile)} does not declare them: ${names}`,
    );
  }
  await writeAtomically(file, writeWorkerdConfig({ config, modules: bundle.modules, environmentNames }));
  return { file, entryFile, sourcesFrom: bundle.directory };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

async function readConfig(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServeError("bad-config", `The configuration cannot be read: ${reason}`);
  }
}

async function waitForPort(port: number, host: string): Promise<void> {
  if (port === 0) return;
  const deadline = Date.now() + PORT_WAIT_MS;
  while (!(await isPortFree(port, host))) {
    if (Date.now() > deadline) {
      throw new ServeError("port-in-use", `Port ${port} on ${host} is in use; set PORT or give --port.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Logs that the bot is ready, or in one sentence why it is not. In both cases the server keeps running, and `/health`
 * has the same sentence.
 *
 * @throws {ServeError} if the worker does not answer
 */
async function reportHealth({
  adminToken,
  dataDirectory,
  stopped,
  url,
}: {
  readonly url: string;
  readonly dataDirectory: string;
  readonly adminToken: string;
  readonly stopped: AbortSignal;
}): Promise<void> {
  const ask = (): Promise<Health> => askHealth(url);
  const health = await firstHealth({ ask, now: Date.now, pause: delay, stopped });
  const where = `on ${url} (data in ${dataDirectory})`;
  if (health === undefined) return;
  // A bot without messengers or with a broken model has no facts, and says so as its problem.
  const facts =
    health.kind === "foreign" ? undefined : await askFacts(url, adminToken).catch(() => undefined);
  const webhooks = (facts?.messengers ?? []).map(({ path: webhook }) => `${url}${webhook}`);
  const say = (text: string): void =>
    log(text, "serve.running", {
      url,
      isReady: health.kind === "ready",
      bot: facts?.agent,
      model: facts?.model,
      webhooks: webhooks.join(" ") || undefined,
      data: dataDirectory,
    });
  switch (health.kind) {
    case "problem":
      say(`running ${where}, but not ready: ${health.message}`);
      break;
    case "foreign":
      say(
        `running ${where}, but GET /health answers ${health.status}: is this the Worker of createWorker()?`,
      );
      return;
    default:
      say(`ready ${where}`);
  }
  if (facts !== undefined && process.stdout.isTTY) {
    log(
      `${facts.agent} with ${facts.model ?? "no model"}; ${webhooks.length > 1 ? "webhooks" : "webhook"} ${webhooks.join(", ")}`,
    );
  }
  void watchHealth(ask, health, stopped);
}

/** Logs changes of the bot's health: a new problem, or one that is gone. */
async function watchHealth(ask: () => Promise<Health>, first: Health, stopped: AbortSignal): Promise<void> {
  const messageOf = (health: Health): string => (health.kind === "problem" ? health.message : "");
  let said = messageOf(first);
  for (let waitMs = SECOND_LOOK_MS; ; waitMs = LOOK_EVERY_MS) {
    await delay(waitMs, undefined, { ref: false });
    if (stopped.aborted) return;
    const health = await ask();
    // workerd may be restarting, which its supervisor logs.
    if (health.kind !== "ready" && health.kind !== "problem") continue;
    const message = messageOf(health);
    if (message !== said) log(message === "" ? "ready again" : `not ready: ${message}`);
    said = message;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`[serve] ${error instanceof ServeError ? error.message : String(error)}\n`);
  process.exit(1);
});
