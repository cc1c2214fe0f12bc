import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { ServeError } from "./serve-error.ts";
import { restAfter } from "../../src/core/base/rest-after.ts";
import { SKILLS_FOLDER } from "./workerd-config.ts";

/** Number of restarts within the window after which the supervisor gives up. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

/** Wait before the first restart within the window. Each further wait is twice as long. */
const RESTART_DELAY_MS = 100;

/** Time after which a workerd that still waits for open requests is killed. Nothing is lost by it. */
const STOP_TIMEOUT_MS = 3_000;

/** Line of workerd about a worker whose first request would run into an endless loop. */
const ENDLESS = "Exported actor class as default entrypoint";

export interface Supervisor {
  /** The port, once workerd listens on it. */
  readonly listening: Promise<number>;
  /** Settles when workerd has ended for good: after `stop`, or because it kept failing. */
  readonly ended: Promise<void>;
  /**
   * Ends workerd within about three seconds. May be called more than once.
   *
   * @param after what workerd may finish first. Meanwhile it is not started again
   */
  stop(after?: Promise<unknown>): Promise<void>;
  /**
   * Kills workerd and starts it with another configuration and other variables, on the same port. Resolves when it listens again. A newer
   * reload takes the place of one that does not listen yet, and resolves both.
   */
  reload(configFile: string, environment?: NodeJS.ProcessEnv): Promise<void>;
  /** Kills workerd as a crash would. It starts again. */
  crash(): void;
}

/**
 * Runs workerd and restarts it when it dies. Objects need no help: workerd fires overdue alarms by itself, within
 * milliseconds of its start.
 *
 * workerd cannot outlive this process, not even after SIGKILL. A watchdog shell waits on a pipe whose other end only
 * this process holds, and kills workerd when the pipe closes.
 */
export function superviseWorkerd(options: {
  readonly binary: string;
  readonly configFile: string;
  readonly objectsDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly host: string;
  readonly port: number;
  readonly log: (line: string) => void;
  /** Called with the process id of each workerd that listens. */
  readonly onListening: (pid: number) => void;
  /** Reads the output of each started workerd, and passes on workerd's own messages. */
  readonly onOutput: (stdout: Readable, stderr: Readable, onWords: (words: string) => void) => void;
}): Supervisor {
  const { binary, objectsDirectory, host, log } = options;
  let { configFile, environment } = options;
  /** Set while a new configuration is loaded. Resolved when workerd listens with it. */
  let reloading: PromiseWithResolvers<void> | undefined;
  const listening = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  // A caller that does not wait for one of these promises must not be ended by its rejection.
  listening.promise.catch(ignore);
  ended.promise.catch(ignore);
  let port = options.port;
  let current: ChildProcess | undefined;
  /** The process that a reload has killed. Nothing that it still says or does counts. */
  let outdated: ChildProcess | undefined;
  let stopping = false;
  let startTimes: number[] = [];
  let restart: NodeJS.Timeout | undefined;

  const finish = (error?: ServeError): void => {
    if (error === undefined) {
      listening.reject(new ServeError("stopped", "The server was stopped before it was ready."));
      ended.resolve();
    } else {
      listening.reject(error);
      ended.reject(error);
    }
  };

  /** Gives up: for good, or if a new configuration does not run, until there is another one. */
  const giveUp = (error: ServeError): void => {
    if (reloading === undefined) {
      stopping = true;
      return finish(error);
    }
    reloading.reject(error);
    reloading = undefined;
  };

  const start = (): void => {
    restart = undefined;
    startTimes = [...startTimes.filter((time) => time > Date.now() - RESTART_WINDOW_MS), Date.now()];
    const child = spawn(
      binary,
      [
        "serve",
        `--socket-addr=http=${host.includes(":") ? `[${host}]` : host}:${port}`,
        `--directory-path=objects=${objectsDirectory}`,
        ...skillsDirectory(environment, configFile),
        "--control-fd=3",
        configFile,
      ],
      { env: environment, stdio: ["ignore", "pipe", "pipe", "pipe"] },
    );
    current = child;
    let isRefused = false;
    options.onOutput(child.stdio[1] as Readable, child.stdio[2] as Readable, (words) => {
      if (!words.includes(ENDLESS) || child === outdated) return;
      isRefused = true;
      child.kill("SIGKILL");
      giveUp(
        new ServeError(
          "default-export",
          "The worker's default export is a class or a function. Its entry has to end with: export default createWorker(MyBot);",
        ),
      );
    });
    const watchdog = watch(child);
    let wasListening = false;
    onPort(child.stdio[3] as Readable, (actualPort) => {
      wasListening = true;
      port = actualPort;
      if (child.pid !== undefined) options.onListening(child.pid);
      listening.resolve(actualPort);
      if (child === outdated) return;
      reloading?.resolve();
      reloading = undefined;
    });
    child.on("error", (error) => {
      finish(
        new ServeError(
          "workerd",
          `workerd at ${binary} could not be started (${error.message}). Run npm ci.`,
        ),
      );
    });
    // Not "exit": workerd's last output must come before the line about its end.
    child.on("close", (code, signal) => {
      current = undefined;
      watchdog.kill("SIGKILL");
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      if (stopping) finish();
      else if (child === outdated) {
        startTimes = [];
        start();
      } else if (isRefused) return;
      else if (!wasListening && startTimes.length === 1) {
        giveUp(
          new ServeError("workerd", `workerd ended ${how} before it listened. Its own output is above.`),
        );
      } else if (startTimes.length > MAX_RESTARTS) {
        giveUp(
          new ServeError(
            "workerd",
            `workerd ended ${how}, ${startTimes.length} times in a minute. Giving up. Its own output is above.`,
          ),
        );
      } else {
        // A Ctrl-C reaches workerd and this process at the same time. Wait a moment for our own signal.
        restart = setTimeout(
          () => {
            if (stopping) return;
            log(`workerd ended ${how}; starting it again`);
            start();
          },
          restAfter(startTimes.length, RESTART_DELAY_MS),
        );
      }
    });
  };

  start();
  return {
    listening: listening.promise,
    ended: ended.promise,
    async stop(after) {
      stopping = true;
      if (current !== undefined && after !== undefined) await Promise.race([after, ended.promise]);
      const child = current;
      if (child === undefined) return finish();
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended.promise.finally(() => clearTimeout(timer));
    },
    async reload(nextFile, nextEnvironment = environment) {
      if (stopping) return ended.promise;
      configFile = nextFile;
      environment = nextEnvironment;
      reloading ??= Promise.withResolvers<void>();
      const { promise } = reloading;
      if (current === undefined) {
        clearTimeout(restart);
        startTimes = [];
        start();
      } else {
        outdated = current;
        current.kill("SIGKILL");
      }
      await Promise.race([promise, ended.promise]);
    },
    crash: () => void current?.kill("SIGKILL"),
  };
}

/** Starts the shell that kills `child` when this process is gone. */
function watch(child: ChildProcess): ChildProcess {
  const watchdog = spawn(
    "/bin/sh",
    ["-c", 'read -r _; kill -KILL "$1" 2>/dev/null', "watchdog", String(child.pid)],
    {
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  watchdog.on("error", ignore);
  watchdog.stdin?.on("error", ignore);
  return watchdog;
}

function onPort(control: Readable, callback: (port: number) => void): void {
  let received = "";
  control.setEncoding("utf8");
  control.on("error", ignore);
  control.on("data", (chunk: string) => {
    received += chunk;
    for (let end = received.indexOf("\n"); end !== -1; end = received.indexOf("\n")) {
      const message = JSON.parse(received.slice(0, end)) as {
        event?: string;
        socket?: string;
        port?: number;
      };
      received = received.slice(end + 1);
      if (message.event === "listen" && message.socket === "http" && message.port !== undefined)
        callback(message.port);
    }
  });
}

/** Handler for errors that another event reports too. */
function ignore(): void {}

/** The bot runs on if the folder is gone: it gets one without skills. */
function skillsDirectory(environment: NodeJS.ProcessEnv, configFile: string): readonly string[] {
  const folder = environment[SKILLS_FOLDER] ?? "";
  if (folder === "") return [];
  return [`--directory-path=skills=${existsSync(folder) ? path.resolve(folder) : path.dirname(configFile)}`];
}
