import { fromSources } from "../ops/serve/bot-source.ts";
import type { Health } from "../ops/serve/health.ts";
import type { HealthChange } from "../ops/serve/health-watch.ts";
import { ServeError } from "../ops/serve/serve-error.ts";
import { reportHealth } from "../ops/serve/report-health.ts";
import { serveBot } from "../ops/serve/serve-bot.ts";
import type { BotVariables } from "../ops/serve/serve-bot.ts";
import { developSource } from "./served-bot/develop-source.ts";
import { watchSources } from "./source-watch.ts";

export interface BotProcess {
  readonly url: string;
  /** Opens the bot to its operator. */
  readonly adminToken: string;
  /** The bot's answer at its start. */
  readonly health: Health | undefined;
  /** Settles when the bot has ended by itself, with the reason. */
  readonly ended: Promise<ServeError>;
  /** Loads the bot again and restarts it. If it cannot be loaded, the running one stays. */
  reload(): Promise<void>;
  /** Resolves when no reload is under way. */
  reloaded(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Serves the bot with the demo model, and loads it again whenever one of its sources is saved. A bot that
 * cannot be loaded is reported, and the one before keeps running.
 *
 * @throws {ServeError} when the bot cannot start
 */
export async function startBot(options: {
  readonly environment: NodeJS.ProcessEnv;
  /** Reads the variables again, before each reload. @default they stay those of the start */
  readonly variables?: () => Promise<BotVariables>;
  /** Files with variables. When one of them is saved, the bot is loaded again. */
  readonly variableFiles?: readonly string[];
  readonly dataDirectory: string;
  readonly port: number;
  /** Configuration of the worker to run. */
  readonly configFile: string;
  /** Variables that the bot gets although its configuration does not declare them. */
  readonly passedOn?: readonly string[];
  /** Whether the bot is another one than those whose data is there. */
  readonly isNewBot?: boolean;
  /** Tells the person about the server. */
  readonly say: (line: string) => void;
  /** Called with each line of the bot's log. */
  readonly onLine: (line: string) => void;
  /** Called after the bot was loaded again. */
  readonly onReload?: () => void;
  /** Time to add to the machine's clock, in milliseconds. With it, the bot has the playground's door. */
  readonly clockShiftMs?: () => number;
}): Promise<BotProcess> {
  const { clockShiftMs, configFile, dataDirectory, environment, onLine, port, say } = options;
  const stop = new AbortController();
  const sources = fromSources(configFile);
  const bot = {
    source: developSource(sources, clockShiftMs),
    dataDirectory,
    host: environment.HOST || "127.0.0.1",
    port,
    environment,
    passedOn: options.passedOn ?? [],
    isNewBot: options.isNewBot ?? false,
    say: (line: string, event?: string) => {
      // The caller shows where the bot runs, and that it stops.
      if (event === undefined) say(`[serve] ${line}`);
    },
    write: onLine,
    stopped: stop.signal,
  };
  const server = await serveBot(bot);
  const health = await reportHealth(server, bot);
  let reloading = Promise.resolve();
  const reload = (): Promise<void> => {
    const done = reloading.then(async () => server.reload(await options.variables?.()));
    reloading = done.catch(() => undefined);
    return done;
  };
  const watched = (): readonly string[] => [...server.watched(), ...(options.variableFiles ?? [])];
  const watch = watchSources(async () => {
    const startedAt = performance.now();
    try {
      await reload();
      watch.set(watched());
      options.onReload?.();
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      say(`Reloaded in ${seconds} s${afterReload(await health?.look())}.`);
    } catch (error) {
      // The repair may be in a file that the running bot does not have.
      watch.set(watched());
      say(error instanceof ServeError ? error.message : String(error));
      say("Not reloaded. Save again when it is fixed.");
    }
  });
  watch.set(watched());
  return {
    url: server.url,
    adminToken: server.adminToken,
    health: server.health,
    reload,
    reloaded: () => reloading,
    ended: new Promise((resolve) => {
      const end = (error?: unknown): void => {
        if (stop.signal.aborted) return;
        resolve(
          error instanceof ServeError ? error : new ServeError("bot-ended", "The bot ended by itself."),
        );
      };
      server.ended.then(() => end(), end);
    }),
    async stop() {
      watch.close();
      stop.abort();
      await server.ended.catch(() => undefined);
    },
  };
}

/** Completes the sentence about a reload. A problem ends with a full stop of its own. */
function afterReload(change: HealthChange | undefined): string {
  if (change === undefined) return "";
  if (change.problem !== "") return `, but the bot cannot answer: ${change.problem.replace(/\.$/, "")}`;
  return change.isNew ? ", and the bot can answer again" : "";
}
