import { z } from "zod";
import { askJson, type JsonAnswer } from "./ask-json.ts";
import { ServeError } from "./serve-error.ts";

/** A bot's answer at `/health`. */
export type Health =
  | { readonly kind: "ready" }
  /** It serves requests and tells why it cannot answer messages. */
  | { readonly kind: "problem"; readonly code: string; readonly message: string }
  /** The answer does not come from `createWorker`. */
  | { readonly kind: "foreign"; readonly status: number }
  /** The connection was closed without an answer. */
  | { readonly kind: "cut"; readonly reason: string }
  | { readonly kind: "silent" };

const ANSWER_TIMEOUT_MS = 5_000;
/** Longest wait for a worker's first answer. */
const FIRST_ANSWER_MS = 30_000;
/** Longest wait while the answers do not come from `createWorker`. */
const FOREIGN_MS = 3_000;
/** After this many closed connections in a row, waiting does not help. */
const MOST_CUTS = 6;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

const problemSchema = z.object({
  problem: z.object({ code: z.string(), message: z.string() }),
});

/** Asks once. Never throws. */
export async function askHealth(url: string): Promise<Health> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  let answer: JsonAnswer;
  try {
    answer = await askJson(new URL("/health", url), { signal });
  } catch (error) {
    if (signal.aborted) return { kind: "silent" };
    return { kind: "cut", reason: error instanceof Error ? error.message : String(error) };
  }
  const { body, status } = answer;
  if (status === 200) return { kind: "ready" };
  const parsed = problemSchema.safeParse(body);
  if (status === 503 && parsed.success) return { kind: "problem", ...parsed.data.problem };
  return { kind: "foreign", status };
}

export interface FirstHealthOptions {
  readonly ask: () => Promise<Health>;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly stopped: AbortSignal;
}

/**
 * Asks until waiting cannot change the answer. Returns undefined if it was stopped before.
 *
 * @throws {ServeError} `no-answer` when the worker answers nothing
 */
export async function firstHealth(options: FirstHealthOptions): Promise<Health | undefined> {
  const { ask, now, pause, stopped } = options;
  const startedAt = now();
  let foreignSince: number | undefined;
  let cuts = 0;
  for (let pauseMs = FIRST_PAUSE_MS; !stopped.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const health = await ask();
    if (health.kind === "ready" || health.kind === "problem") return health;
    if (health.kind === "foreign") {
      foreignSince ??= now();
      if (now() - foreignSince >= FOREIGN_MS) return health;
    }
    cuts = health.kind === "cut" ? cuts + 1 : 0;
    if (cuts >= MOST_CUTS || now() - startedAt >= FIRST_ANSWER_MS) throw noAnswer(health, stopped);
    await pause(pauseMs);
  }
  return undefined;
}

function noAnswer(health: Health, stopped: AbortSignal): unknown {
  if (stopped.aborted) return stopped.reason;
  const how = health.kind === "cut" ? "ends every connection" : "does not answer";
  return new ServeError(
    "no-answer",
    `The worker listens but ${how} without a word. Its entry has to end with: export default createWorker(MyBot);`,
  );
}
