import { ServeError } from "../serve/serve-error.ts";
import { updatesAnswer } from "./bot-api-answers.ts";
import { BotApiCallError } from "./bot-api.ts";
import type { BotApi } from "./bot-api.ts";
import { UpdateQueue } from "./update-queue.ts";
import type { RawUpdate } from "./update-queue.ts";
import { restAfter } from "../../src/core/base/rest-after.ts";

/** Result of posting an update to the webhook. */
export type PostResult =
  | { readonly kind: "accepted" }
  | {
      readonly kind: "refused";
      /** For people: a status or a network failure. */
      readonly reason: string;
      readonly retryAfterMs?: number | undefined;
    };

export interface LongPollingOptions {
  readonly api: BotApi;
  /** Posts an update to the bot's webhook. Never throws. */
  readonly post: (update: RawUpdate) => Promise<PostResult>;
  /** Kinds of updates that the bot handles. */
  readonly updates: readonly string[];
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Resolves after this time, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** How long Telegram holds a poll while there is no update. */
const POLL_S = 30;
/** Pause between polls while the webhook has not accepted everything. */
const OPEN_POLL_MS = 1_000;
/** As many posts at once as Telegram makes by default. */
const MAX_POSTS = 40;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Pause after a conflict. A poll of an earlier run may not have ended yet. */
const CONFLICT_RETRY_MS = 3_000;
const MOST_CONFLICTS = 4;
/** How long the posts that are under way may take when polling ends. */
const LAST_POSTS_MS = 5_000;

/**
 * Fetches updates with long polling and posts them to the bot's webhook, as Telegram does:
 *
 * - An update is confirmed only after the webhook has accepted it. Until then it is posted again, and a restart gets it
 *   again.
 * - Updates of one chat arrive in their order. A chat that fails does not hold up the others.
 *
 * Resolves when the signal has aborted and the accepted updates are confirmed.
 *
 * @throws {ServeError} `telegram-conflict` if another program takes the updates
 * @throws {BotApiCallError} if Telegram refuses the token
 */
export async function pollTelegram(options: LongPollingOptions): Promise<void> {
  const { api, pause, say, signal, updates } = options;
  const queue = new UpdateQueue();
  const posts = new Posts(options, queue);
  let conflicts = 0;
  let failures = 0;
  const poll = (offset: number, timeout: number, during?: AbortSignal): Promise<readonly RawUpdate[]> =>
    api.call("getUpdates", updatesAnswer, { offset, timeout, limit: 100, allowed_updates: updates }, during);
  while (!signal.aborted) {
    const offset = queue.offset();
    try {
      const found = await poll(offset, queue.open === 0 ? POLL_S : 0, signal);
      if (failures > 0) say("Telegram answers again.");
      conflicts = 0;
      failures = 0;
      queue.confirmed(offset);
      queue.add(found);
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof BotApiCallError) || error.kind === "token-refused") throw error;
      if (error.kind === "conflict") {
        conflicts += 1;
        if (conflicts >= MOST_CONFLICTS) throw conflict(error);
        await pause(CONFLICT_RETRY_MS, signal);
        continue;
      }
      if (failures === 0) say(error.message);
      failures += 1;
      await pause(error.retryAfterMs ?? restAfter(failures, FIRST_RETRY_MS, LONGEST_RETRY_MS), signal);
      continue;
    }
    posts.start();
    if (queue.open > 0) await Promise.race([posts.allAccepted(), pause(OPEN_POLL_MS, signal)]);
  }
  await Promise.race([posts.idle(), pause(LAST_POSTS_MS, new AbortController().signal)]);
  if (!queue.isConfirmationDue) return;
  // Unconfirmed updates would come again. The bot drops them, but there is no need to send them.
  await poll(queue.offset(), 0).catch(() => undefined);
}

/** The posts of a queue: one at a time for each chat, again until the webhook accepts. */
class Posts {
  readonly #options: LongPollingOptions;
  readonly #queue: UpdateQueue;
  readonly #active = new Set<Promise<void>>();
  #whenAccepted: (() => void)[] = [];
  #saidReason: string | undefined;

  constructor(options: LongPollingOptions, queue: UpdateQueue) {
    this.#options = options;
    this.#queue = queue;
  }

  /** Starts all posts that may begin now. */
  start(): void {
    if (this.#options.signal.aborted) return;
    for (const update of this.#queue.take(MAX_POSTS)) {
      const work = this.#deliver(update).then(() => {
        this.#active.delete(work);
        this.start();
      });
      this.#active.add(work);
    }
  }

  /** Resolves when the webhook has accepted everything. */
  allAccepted(): Promise<void> {
    if (this.#queue.open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenAccepted.push(resolve));
  }

  /** Resolves when no post is under way. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active);
  }

  async #deliver(update: RawUpdate): Promise<void> {
    const { pause, post, say, signal } = this.#options;
    for (let failures = 1; ; failures += 1) {
      const result = await post(update);
      if (result.kind === "accepted") {
        this.#accepted(update);
        return;
      }
      if (signal.aborted) break;
      if (this.#saidReason !== result.reason) {
        this.#saidReason = result.reason;
        say(`The bot has not taken an update (${result.reason}). Trying again.`);
      }
      await pause(result.retryAfterMs ?? restAfter(failures, FIRST_RETRY_MS, LONGEST_RETRY_MS), signal);
      if (signal.aborted) break;
    }
    this.#queue.refused(update);
  }

  #accepted(update: RawUpdate): void {
    this.#queue.accepted(update);
    if (this.#queue.open > 0) return;
    this.#saidReason = undefined;
    for (const resolve of this.#whenAccepted.splice(0)) resolve();
  }
}

function conflict({ message }: BotApiCallError): ServeError {
  return new ServeError(
    "telegram-conflict",
    `Another program takes the bot's updates: a second run with this token, or a webhook that was set meanwhile. Stop it, or use a token of your own for development. ${message}`,
  );
}
