import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { runningUrl } from "../scripts/serve/log/serve-log.ts";

/** Time after which the bot is killed. It may take five seconds to end by itself. */
const STOP_TIMEOUT_MS = 6_000;

export interface BotProcess {
  readonly url: string;
  /** Settles with the exit code when the bot has ended. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * Starts the bot as `npm run serve` does. Resolves when it serves requests.
 *
 * @throws {Error} when it ends before that; its own output has been shown
 */
export async function startBot(options: {
  readonly environment: NodeJS.ProcessEnv;
  /** Configuration of the worker to run. */
  readonly configFile: string;
  readonly onLine: (line: string) => void;
}): Promise<BotProcess> {
  const root = path.resolve(import.meta.dirname, "..");
  const parameters = ["--exit-with-stdin", "--config", path.resolve(options.configFile)];
  const child = spawn(process.execPath, [path.join(root, "scripts/serve.ts"), ...parameters], {
    cwd: root,
    env: options.environment,
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => {
    // The bot has ended, which its exit code reports.
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const running = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    options.onLine(line);
    const url = runningUrl(line);
    if (url !== undefined) running.resolve(url);
  });
  child.once("error", (error) => running.reject(error));
  void ended.then(() => running.reject(new Error("The bot did not start. The reason is above.")));
  return {
    url: await running.promise,
    ended,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
