/**
 * Runs the bot as an operator does: `switchboard serve` in a process group of its own. A test can kill the whole group
 * at once and start it again with the same data and port.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { builtBot } from "./built-bot.ts";

export interface ServedBot {
  readonly url: string;
  /** The process that leads the group. Changes with a restart. */
  readonly pid: number;
  readonly dataDirectory: string;
  /** Sends a signal to the whole group and waits until its leader is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Asks the bot to end; resolves to its exit code. */
  stop(): Promise<number | null>;
  /** Starts it again on the same port and data, after killing it if it still runs. */
  restart(environment?: Record<string, string>): Promise<void>;
  /** Returns everything written to stdout and stderr, across restarts. */
  logs(): string;
  /** Settles when the pattern shows up in the logs, now or later. */
  logged(pattern: RegExp): Promise<void>;
  /** Kills it and removes its data, unless the data directory was given. */
  close(): Promise<void>;
}

/** A bot that is not ready serves requests, too. */
const RUNNING = /"event":"serve\.running","url":"(http:[^"]+)"/;
const root = path.resolve(import.meta.dirname, "../..");

/** Variable that names a bundle of the command, if there is one. Its sources take longer to load. */
export const BUILT_COMMAND = "BUILT_COMMAND";

export async function startServedBot(
  options: {
    env?: Record<string, string>;
    dataDirectory?: string;
    port?: number;
    config?: string;
    /** Whether each start bundles the sources. Else they are built once for all starts. */
    fromSources?: boolean;
    /** Whether the demo model is in the build, as `switchboard dev` has it. */
    withDemo?: boolean;
    /** See `BuiltBotOptions.alias`. */
    alias?: Readonly<Record<string, string>> | undefined;
  } = {},
): Promise<ServedBot> {
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(path.join(tmpdir(), "switchboard-bot-")));
  let port = options.port ?? 0;
  let environment = options.env ?? {};
  let output = "";
  let child: ChildProcess | undefined;
  let exited: Promise<number | null> = Promise.resolve(null);
  const watchers = new Set<() => void>();

  const logged = (pattern: RegExp, from = 0): Promise<RegExpExecArray> =>
    new Promise((resolve) => {
      const look = (): void => {
        const match = pattern.exec(output.slice(from));
        if (match === null) return;
        watchers.delete(look);
        resolve(match);
      };
      watchers.add(look);
      look();
    });

  const start = async (): Promise<string> => {
    const from = output.length;
    const config = path.resolve(options.config ?? path.join(root, "wrangler.jsonc"));
    const parameters =
      options.fromSources === true
        ? ["--config", config]
        : [await builtBot(config, { alias: options.alias, withDemo: options.withDemo ?? false })];
    const command = [commandFile(), "serve", "--exit-with-stdin"];
    const started = spawn(process.execPath, [...command, ...parameters], {
      cwd: root,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        ...cleanEnvironment(),
        ...environment,
        PORT: String(port),
        HOST: "127.0.0.1",
        DATA_DIR: dataDirectory,
      },
    });
    child = started;
    exited = new Promise((resolve) => started.once("close", resolve));
    const collect = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
      for (const look of watchers) look();
    };
    started.stdout.on("data", collect);
    started.stderr.on("data", collect);
    const failed = exited.then((code): never => {
      throw new Error(`The bot ended with code ${code} before it was ready:\n${output.slice(from)}`);
    });
    const ready = await Promise.race([logged(RUNNING, from), failed]);
    failed.catch(() => undefined);
    const url = ready[1] ?? "";
    port = Number(new URL(url).port);
    return url;
  };

  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, signal);
    await exited;
  };

  const url = await start();
  return {
    url,
    get pid() {
      return child?.pid ?? 0;
    },
    dataDirectory,
    kill,
    async stop() {
      child?.kill("SIGTERM");
      return await exited;
    },
    async restart(changed) {
      await kill();
      environment = { ...environment, ...changed };
      await start();
    },
    logs: () => output,
    logged: async (pattern) => void (await logged(pattern)),
    async close() {
      await kill();
      if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** The command's file: its sources, or their bundle. */
export function commandFile(): string {
  return process.env[BUILT_COMMAND] ?? path.join(root, "cli/main.ts");
}

/** Returns the environment without variables of a real bot that a developer's shell may have. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(TELEGRAM|OPENAI|ANTHROPIC|ORDERS|ADMIN|npm)_|^(MODEL|DEBUG)$/.test(name),
  );
  return Object.fromEntries(kept);
}
