import { randomBytes } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { finishMove } from "../data/move-conversation.ts";
import { storedName } from "../data/bot-names.ts";
import type { BotSource, ReadyWorker } from "./bot-source.ts";
import { ENTRY, modulesOf } from "./bundle-files.ts";
import { removeControl, writeControl } from "./control-file.ts";
import { lockDataDirectory } from "./data-lock.ts";
import { bindingNames, undeclaredNames } from "./environment.ts";
import { askHealth, firstHealth } from "./health.ts";
import type { Health } from "./health.ts";
import { createWorkerLog } from "./log/create-worker-log.ts";
import type { ServeLog } from "./log/serve-log.ts";
import { isPortFree } from "./port.ts";
import { drain } from "./drain.ts";
import { askOpenWork } from "./running-bot.ts";
import { ServeError } from "./serve-error.ts";
import { shortPath } from "./short-path.ts";
import { inFolder } from "./storage-errors.ts";
import { superviseWorkerd } from "./supervisor.ts";
import type { Supervisor } from "./supervisor.ts";
import { storedUnder } from "./worker-config.ts";
import { findWorkerd } from "./workerd-binary.ts";
import { SKILLS_FOLDER, writeWorkerdConfig } from "./workerd-config.ts";

/** Longest time to wait for a port that an earlier server may still hold. */
const PORT_WAIT_MS = 1_500;
/** A file may still appear in a folder while it is removed: a write of another reload, or a scanner of the machine. */
const REMOVE = { recursive: true, force: true, maxRetries: 5 } as const;

/** Variables of a bot's process. */
export interface BotVariables {
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that the bot gets although its configuration does not declare them. */
  readonly passedOn?: readonly string[];
}

export interface ServeOptions extends BotVariables {
  readonly source: BotSource;
  readonly dataDirectory: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Whether the bot is another one than those whose data is there. Counts for the start only. @default false */
  readonly isNewBot?: boolean;
  /** Tells the operator about the server. */
  readonly say: ServeLog["say"];
  /** Called with each line of the bot's log. */
  readonly write: (line: string) => void;
  readonly stopped: AbortSignal;
  /** Lets work end that needs only a moment, after `stopped`. @default the bot ends at once */
  readonly drain?: {
    /** Longest wait, in milliseconds. */
    readonly timeoutMs: number;
    /** Ends the wait early. */
    readonly hurried: AbortSignal;
  };
}

/** A bot that serves requests, whether or not it is ready to answer messages. */
export interface BotServer {
  readonly url: string;
  /** Opens the bot to its operator. Made up for this run if `ADMIN_TOKEN` is not set. */
  readonly adminToken: string;
  /** The bot's answer at its start. Undefined if it was stopped before. */
  readonly health: Health | undefined;
  /** Settles when the bot has ended: after `stopped`, or with an error because it kept failing. */
  readonly ended: Promise<void>;
  /** Files whose change asks for `reload`. */
  watched(): readonly string[];
  /**
   * Loads the source again and restarts workerd with it, on the same storage. If the source cannot be loaded or started,
   * the bot before goes on.
   *
   * @param variables @default those of the start. `ADMIN_TOKEN` stays as it is
   */
  reload(variables?: BotVariables): Promise<void>;
  /** Kills workerd as a crash would. It starts again. */
  crash(): void;
}

/**
 * Serves a bot by workerd, with its storage on disk. Resolves when the bot has answered for the first time.
 *
 * @throws {ServeError} when it cannot start
 */
export async function serveBot(options: ServeOptions): Promise<BotServer> {
  const { dataDirectory, say, source } = options;
  const data = { folder: dataDirectory, variable: "DATA_DIR" };
  await inFolder(data, () => mkdir(path.join(dataDirectory, "objects"), { recursive: true }));
  const lock = await lockDataDirectory(dataDirectory);
  const release = async (): Promise<void> => {
    await source.close();
    await removeControl(dataDirectory);
    if (options.stopped.aborted) say("stopped", "serve.stopped");
    lock.close();
  };
  const adminToken = options.environment.ADMIN_TOKEN || randomBytes(24).toString("base64url");
  const environment = { ...options.environment, ADMIN_TOKEN: adminToken };
  try {
    return await serveLocked({ ...options, environment }, adminToken, release);
  } catch (error) {
    await release();
    throw error;
  }
}

/** @param release called when the server has ended; not if it cannot start */
async function serveLocked(
  options: ServeOptions,
  adminToken: string,
  release: () => Promise<void>,
): Promise<BotServer> {
  const { dataDirectory, host, port, say, source, stopped } = options;
  const binary = findWorkerd();
  const data = { folder: dataDirectory, variable: "DATA_DIR" };
  await waitForPort(port, host);
  let generation = 0;
  const prepare = async (variables: BotVariables, onBundle?: () => void): Promise<PreparedWorker> => {
    const worker = await source.load(onBundle);
    if (worker.config.unsupported.length > 0) {
      say(`not available locally, left out: ${worker.config.unsupported.join(", ")}`);
    }
    for (const warning of worker.warnings) say(warning);
    return inFolder(data, async () => {
      if (generation === 0) await finishMove(dataDirectory);
      const isNew = generation === 0 && options.isNewBot === true;
      const name = await storedName(dataDirectory, source.place, worker.config.name, isNew);
      const config = storedUnder(worker.config, name);
      return prepareWorker({ ...worker, config }, { ...options, ...variables }, generation++);
    });
  };
  const stages = path.join(dataDirectory, "worker");
  await inFolder(data, () => rm(stages, REMOVE));
  let current = await prepare(options, () => say("bundling the worker"));
  stopped.throwIfAborted();

  let hasListened = false;
  const log = (worker: PreparedWorker): ReturnType<typeof createWorkerLog> =>
    createWorkerLog({
      ...worker,
      write: options.write,
      isStarting: () => !hasListened,
    });
  let workerLog = log(current);
  let address = "";
  let workerdPid: number | undefined;
  /** Commands on this machine find the bot by it. */
  const noteWhere = async (): Promise<void> => {
    const control = { url: address, pid: process.pid, workerdPid, adminToken };
    if (address !== "" && !stopped.aborted) await writeControl(dataDirectory, control);
  };
  const supervisor = superviseWorkerd({
    binary,
    configFile: current.file,
    objectsDirectory: path.join(dataDirectory, "objects"),
    environment: options.environment,
    host,
    port,
    log: say,
    onListening: (pid) => {
      workerdPid = pid;
      // A full disk does not keep the bot from running. The next start of workerd tries again.
      noteWhere().catch(() => undefined);
    },
    onOutput: (stdout, stderr, onWords) => void workerLog.follow(stdout, stderr, onWords),
  });
  stopped.addEventListener("abort", () => {
    say("stopping: what is not finished goes on at the next start", "serve.stopping");
    const hasWork = address !== "" && options.drain !== undefined;
    const openWork = (): Promise<number> => askOpenWork(address, adminToken);
    void supervisor.stop(hasWork ? drain({ ...options.drain, openWork }) : undefined);
  });
  const { url, health } = await firstAnswer(supervisor, options);
  hasListened = true;
  address = url;
  await inFolder(data, noteWhere);
  const ended = supervisor.ended.finally(release);
  // The caller may wait for it later.
  ended.catch(() => undefined);
  return {
    url,
    adminToken,
    health,
    ended,
    watched: () => [...current.watched, ...source.lookedFor()],
    crash: () => supervisor.crash(),
    async reload(variables = options) {
      const before = current;
      const use = async (worker: PreparedWorker): Promise<void> => {
        current = worker;
        workerLog = log(worker);
        await supervisor.reload(worker.file, worker.environment);
      };
      const environment = { ...variables.environment, ADMIN_TOKEN: adminToken };
      const next = await prepare({ ...variables, environment });
      try {
        await use(next);
      } catch (error) {
        // If this fails as well, the reason of the first failure says more.
        await use(before).catch(() => undefined);
        await rm(next.folder, REMOVE);
        throw error;
      }
      await rm(before.folder, REMOVE);
    },
  };
}

async function firstAnswer(
  supervisor: Supervisor,
  { host, stopped }: ServeOptions,
): Promise<{ readonly url: string; readonly health: Health | undefined }> {
  try {
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${await supervisor.listening}`;
    const ask = (): Promise<Health> => askHealth(url);
    return { url, health: await firstHealth({ ask, now: Date.now, pause: delay, stopped }) };
  } catch (error) {
    await supervisor.stop().catch(() => undefined);
    throw error;
  }
}

interface PreparedWorker {
  readonly folder: string;
  /** Path of workerd's configuration. */
  readonly file: string;
  /** Path of the bundle's entry. Its source map is in the same folder. */
  readonly entryFile: string;
  readonly watched: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Writes bundle and configuration into the data directory, so that a restart of workerd needs nothing else. */
async function prepareWorker(
  worker: ReadyWorker,
  options: ServeOptions,
  generation: number,
): Promise<PreparedWorker> {
  const { config, entry, files, watched } = worker;
  await checkSkillsFolder(options.environment[SKILLS_FOLDER] ?? "");
  const folder = path.join(options.dataDirectory, "worker", String(generation));
  await mkdir(folder, { recursive: true });
  for (const [name, content] of files) await writeFile(path.join(folder, name), content);
  const passedOn = [...Object.keys(config.variables), ...(options.passedOn ?? [])];
  const environmentNames = bindingNames(options.environment, passedOn);
  const code = new TextDecoder().decode(files.get(ENTRY));
  const undeclared = undeclaredNames(code, options.environment, environmentNames);
  if (undeclared.length > 0) {
    const names = undeclared.join(", ");
    options.say(
      `set, but the bot does not get them, because "vars" of ${shortPath(options.source.place)} does not declare them: ${names}`,
    );
  }
  const file = path.join(folder, "workerd.capnp");
  const modules = modulesOf(files.keys(), entry);
  await writeFile(file, writeWorkerdConfig({ config, modules, environmentNames }));
  return { folder, file, entryFile: path.join(folder, ENTRY), watched, environment: options.environment };
}

async function checkSkillsFolder(folder: string): Promise<void> {
  const found = folder === "" ? undefined : await stat(folder).catch(() => undefined);
  if (folder !== "" && found?.isDirectory() !== true)
    throw new ServeError("skills-folder", `SKILLS_FOLDER is no folder: ${path.resolve(folder)}`);
}

async function waitForPort(port: number, host: string): Promise<void> {
  if (port === 0) return;
  const deadline = Date.now() + PORT_WAIT_MS;
  while (!(await isPortFree(port, host))) {
    if (Date.now() > deadline) {
      throw new ServeError("port-in-use", `Port ${port} on ${host} is in use; set PORT or give --port.`);
    }
    await delay(50);
  }
}
