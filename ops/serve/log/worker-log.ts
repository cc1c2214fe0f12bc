import type { Readable } from "node:stream";
import { z } from "zod";
import type { SecretHider } from "../../../src/log/hide-secrets.ts";
import { limitRuntime } from "./runtime-limit.ts";
import type { RuntimeLimit } from "./runtime-limit.ts";
import { runtimeWords } from "./runtime-words.ts";
import { readLines } from "./read-lines.ts";

/** Longest text of the bot in one line. */
const MAX_OWN_LENGTH = 16_000;

/** A line of workerd's structured log: one for each console call of the bot, and one for each message of workerd. */
const Entry = z.object({
  timestamp: z.coerce.number(),
  level: z.string(),
  message: z.string(),
  /** A file and line of workerd, set for its own messages. */
  source: z.string().optional(),
});

type Level = "info" | "warn" | "error";

/** Values of `LOG_LEVEL`, the less serious ones first. No line has the last one. */
const LEVELS: readonly string[] = ["info", "warn", "error", "silent"];

export interface WorkerLogOptions {
  /** Called with complete lines. */
  readonly write: (line: string) => void;
  /** Replaces places of the bundle with files of the author. */
  readonly places: { translate(at: string): string };
  readonly secrets: SecretHider;
  /** The least serious lines that are written: `LOG_LEVEL`. Anything else than a level is `info`. */
  readonly level: string | undefined;
  /** Returns true if messages of exceptions may be shown: in development, and before the first request. */
  readonly isRevealing: () => boolean;
  readonly now: () => number;
  /** Calls back once after `delayMs`. It must not keep the process alive. */
  readonly after: (delayMs: number, callback: () => void) => void;
}

/**
 * A bundle without a class of its configuration is refused before workerd starts. So workerd says this only after an
 * exception that ended the loading of the worker, and the exception has its own line.
 */
const MISSING_CLASS = /^A DurableObjectNamespace in the config referenced the class /;

/** After a restart late alarms run at once. workerd says so for each of them, and nothing is wrong. */
const LATE_ALARM = /^NOSENTRY SQLite alarm overdue\b/;

/**
 * Turns the output of workerd into the bot's log: one line of JSON for each fact, with its time.
 *
 * - Lines of Switchboard's own log pass. Places of failures are translated into the author's files.
 * - Any other output of the bot becomes `bot.output`.
 * - Messages of workerd become `runtime.output`.
 */
export class WorkerLog {
  readonly #options: WorkerLogOptions;
  readonly #limit: RuntimeLimit;

  constructor(options: WorkerLogOptions) {
    this.#options = options;
    this.#limit = limitRuntime({
      now: options.now,
      after: options.after,
      onDropped: (count) => this.#write("warn", "runtime.output-dropped", { count }),
    });
  }

  /**
   * Reads both outputs of a process. Resolves when it has ended and everything is written.
   *
   * @param onWords called with each message of workerd, including those that are left out
   */
  async follow(stdout: Readable, stderr: Readable, onWords?: (words: string) => void): Promise<void> {
    await Promise.all([
      readLines(stdout, (line) => this.take(line, "info", onWords)),
      readLines(stderr, (line) => this.take(line, "error", onWords)),
    ]);
    this.#limit.end();
  }

  /**
   * Writes one line of the output.
   * @param otherwise the level of a line that has none
   */
  take(line: string, otherwise: Level, onWords?: (words: string) => void): void {
    const entry = Entry.safeParse(parseJson(line));
    if (!entry.success) {
      if (line.trim() !== "") this.#runtime(otherwise, line, {});
      return;
    }
    const { level, message, source, timestamp } = entry.data;
    if (source !== undefined) onWords?.(message);
    if (source !== undefined && (MISSING_CLASS.test(message) || LATE_ALARM.test(message))) return;
    if (source !== undefined) this.#runtime(levelOf(level), message, { source, at: timestamp });
    else if (/^uncaught /i.test(message)) this.#runtime(levelOf(level), message, { at: timestamp });
    else this.#console(levelOf(level), message, timestamp);
  }

  /** Writes output of the bot. */
  #console(level: Level, message: string, at: number): void {
    const { places, secrets, write } = this.#options;
    const fact = message.startsWith("{") ? parseJson(message) : undefined;
    if (!isObject(fact)) {
      const text = secrets.all(
        message.length > MAX_OWN_LENGTH ? `${message.slice(0, MAX_OWN_LENGTH)}…` : message,
      );
      this.#write(level, "bot.output", { text }, at);
      return;
    }
    const place = typeof fact.at === "string" ? { at: places.translate(fact.at) } : undefined;
    const isReady = place === undefined && fact.time !== undefined && !message.includes("\n");
    const line = isReady
      ? message
      : JSON.stringify({ time: new Date(at).toISOString(), level, ...fact, ...place });
    if (this.#isShown(isLevel(fact.level) ? fact.level : level)) write(secrets.values(line));
  }

  /** Writes a message of workerd. */
  #runtime(
    level: Level,
    message: string,
    { at, source }: { readonly at?: number; readonly source?: string },
  ): void {
    if (!this.#limit.allows(message)) return;
    const { isRevealing, places, secrets } = this.#options;
    const words = runtimeWords(message, isRevealing());
    const fields = {
      source,
      code: words.code,
      text: secrets.all(words.text),
      at: words.at === undefined ? undefined : places.translate(words.at),
    };
    this.#write(level, "runtime.output", fields, at);
  }

  #write(level: Level, event: string, fields: object, at = this.#options.now()): void {
    if (!this.#isShown(level)) return;
    this.#options.write(JSON.stringify({ time: new Date(at).toISOString(), level, event, ...fields }));
  }

  #isShown(level: Level): boolean {
    const threshold = LEVELS.indexOf(this.#options.level?.toLowerCase() ?? "info");
    return LEVELS.indexOf(level) >= threshold;
  }
}

function isLevel(value: unknown): value is Level {
  return value === "info" || value === "warn" || value === "error";
}

function levelOf(level: string): Level {
  const known = level.toLowerCase();
  if (known === "error" || known === "fatal") return "error";
  return known.startsWith("warn") ? "warn" : "info";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A line may contain any text.
    return undefined;
  }
}
