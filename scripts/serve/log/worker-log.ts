import type { Readable } from "node:stream";
import { z } from "zod";
import type { SecretHider } from "./hide-secrets.ts";
import { limitRuntime } from "./runtime-limit.ts";
import type { RuntimeLimit } from "./runtime-limit.ts";
import { runtimeWords } from "./runtime-words.ts";
import { readLines } from "./read-lines.ts";

/** Longest text of the bot's own that a line gets. */
const MAX_OWN_LENGTH = 16_000;

/** What workerd writes with structured logging: a line for each call of the console, and each of its own. */
const Entry = z.object({
  timestamp: z.coerce.number(),
  level: z.string(),
  message: z.string(),
  /** A file and line of workerd: it speaks itself. */
  source: z.string().optional(),
});

type Level = "info" | "warn" | "error";

export interface WorkerLogOptions {
  /** Gets whole lines. */
  readonly write: (line: string) => void;
  /** Puts files of the author in place of those of the bundle. */
  readonly places: { translate(at: string): string };
  readonly secrets: SecretHider;
  /** Whether words of exceptions may be shown: in development, and before the first request. */
  readonly isRevealing: () => boolean;
  readonly now: () => number;
  /** Calls back once after a time. It must not keep the process alive. */
  readonly after: (delayMs: number, callback: () => void) => void;
}

/**
 * Makes the log of the bot out of what workerd writes: one line of JSON for each fact, with its time. Lines of our own
 * pass, with the places of failures as the author knows them. What the bot prints otherwise becomes `bot.output`, and
 * what workerd says itself `runtime.output`.
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
   * Takes both outputs of a process. Resolves when it has ended and all of it is written.
   *
   * @param onWords gets each message of workerd itself, also those that are left out
   */
  async follow(stdout: Readable, stderr: Readable, onWords?: (words: string) => void): Promise<void> {
    await Promise.all([
      readLines(stdout, (line) => this.take(line, "info", onWords)),
      readLines(stderr, (line) => this.take(line, "error", onWords)),
    ]);
    this.#limit.end();
  }

  /** @param otherwise the level of a line that does not say its own */
  take(line: string, otherwise: Level, onWords?: (words: string) => void): void {
    const entry = Entry.safeParse(parseJson(line));
    if (!entry.success) {
      if (line.trim() !== "") this.#runtime(otherwise, line, {});
      return;
    }
    const { level, message, source, timestamp } = entry.data;
    if (source !== undefined) onWords?.(message);
    if (source !== undefined) this.#runtime(levelOf(level), message, { source, at: timestamp });
    else if (/^uncaught /i.test(message)) this.#runtime(levelOf(level), message, { at: timestamp });
    else this.#console(levelOf(level), message, timestamp);
  }

  /** Something that the worker has printed. */
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
    write(secrets.values(line));
  }

  /** Something that workerd says itself. */
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
    this.#options.write(JSON.stringify({ time: new Date(at).toISOString(), level, event, ...fields }));
  }
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
    // Any text at all may stand in a line.
    return undefined;
  }
}
