import http from "node:http";
import https from "node:https";
import type { Clock, Timer } from "../clock.ts";
import type { UpdateAttempt, UpdateRecord, Updates } from "./updates.ts";
import { restAfter } from "../../../src/core/base/rest-after.ts";

export interface WebhookTarget {
  readonly url: string;
  readonly secretToken?: string;
  readonly maxConnections: number;
}

export interface DeliveryOptions {
  readonly clock: Clock;
  readonly updates: Updates;
  /** `baseMs`: delay after the first failure. Each further failure doubles it, up to `maxMs`. */
  readonly redelivery: { readonly baseMs: number; readonly maxMs: number };
  /** Longest time that the bot may take to answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Called with a Bot API method that the bot put into its answer. */
  readonly onMethodInAnswer: (call: Record<string, unknown>) => void;
}

interface Outcome {
  readonly status?: number;
  readonly error?: string;
  readonly retryAfterMs?: number;
  readonly body?: string;
  readonly isStale?: boolean;
}

interface Lane {
  readonly queue: UpdateRecord[];
  busy: boolean;
  timer?: Timer;
  failures: number;
}

/**
 * Posts updates to the bot's webhook: at most `maxConnections` at once, and one at a time in each lane.
 *
 * An update that is not answered with 2xx is posted again later, and no other update of its lane overtakes it. The
 * bot's `Retry-After` is respected.
 */
export class WebhookDelivery {
  readonly #options: DeliveryOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting: Lane[] = [];
  readonly #open = new Set<http.ClientRequest>();
  #inFlight = 0;
  readonly #agents = {
    "http:": new http.Agent({ keepAlive: true }),
    "https:": new https.Agent({ keepAlive: true }),
  };
  #target: WebhookTarget | undefined;
  #closed = false;
  lastError: { readonly at: number; readonly message: string } | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  get target(): WebhookTarget | undefined {
    return this.#target;
  }

  setTarget(target: WebhookTarget | undefined): void {
    this.#target = target;
    this.lastError = undefined;
    this.redeliverNow();
  }

  add(record: UpdateRecord): void {
    let lane = this.#lanes.get(record.lane);
    if (lane === undefined) {
      lane = { queue: [], busy: false, failures: 0 };
      this.#lanes.set(record.lane, lane);
    }
    lane.queue.push(record);
    this.#wake(lane);
  }

  /** Tries all waiting updates now, without their delays. */
  redeliverNow(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.timer !== undefined) this.#options.clock.clearTimeout(lane.timer);
      delete lane.timer;
      this.#wake(lane);
    }
  }

  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes.values())
      if (lane.timer !== undefined) this.#options.clock.clearTimeout(lane.timer);
    for (const request of this.#open) request.destroy();
    this.#agents["http:"].destroy();
    this.#agents["https:"].destroy();
  }

  #wake(lane: Lane): void {
    if (lane.busy || lane.timer !== undefined || this.#closed || this.#target === undefined) return;
    if (!this.#waiting.includes(lane)) this.#waiting.push(lane);
    this.#fill();
  }

  #fill(): void {
    const target = this.#target;
    if (target === undefined || this.#closed) return;
    while (this.#inFlight < target.maxConnections) {
      const lane = this.#waiting.shift();
      if (lane === undefined) return;
      const record = this.#head(lane);
      if (record === undefined) continue;
      lane.busy = true;
      this.#inFlight += 1;
      this.#send(target, lane, record);
    }
  }

  #head(lane: Lane): UpdateRecord | undefined {
    for (;;) {
      const record = lane.queue[0];
      if (record === undefined) return undefined;
      if (record.state === "pending" && !this.#options.updates.isExpired(record, this.#options.clock.now()))
        return record;
      if (record.state === "pending") this.#options.updates.settle(record, "given-up");
      lane.queue.shift();
    }
  }

  #send(target: WebhookTarget, lane: Lane, record: UpdateRecord): void {
    const startedAt = this.#options.clock.now();
    let done = false;
    const finish = (result: Outcome): void => {
      if (done) return;
      done = true;
      this.#inFlight -= 1;
      this.#options.clock.clearTimeout(timeout);
      lane.busy = false;
      const attempt: UpdateAttempt = {
        at: startedAt,
        ...(result.status !== undefined && { status: result.status }),
        ...(result.error !== undefined && { error: result.error }),
        durationMs: this.#options.clock.now() - startedAt,
      };
      this.#finished(lane, record, attempt, result);
    };
    const timeout = this.#options.clock.setTimeout(
      () => finish({ error: "Read timeout expired" }),
      this.#options.timeoutMs,
    );
    this.#request(target, record, finish);
  }

  #request(target: WebhookTarget, record: UpdateRecord, finish: (result: Outcome) => void): void {
    const url = new URL(target.url);
    const secure = url.protocol === "https:";
    const body = JSON.stringify(record.update);
    const request = (secure ? https : http).request(url.href, {
      method: "POST",
      agent: secure ? this.#agents["https:"] : this.#agents["http:"],
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(target.secretToken !== undefined && { "x-telegram-bot-api-secret-token": target.secretToken }),
      },
    });
    this.#open.add(request);
    request.on("close", () => this.#open.delete(request));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", (error) => finish({ error: connectionError(error) }));
      response.on("end", () => {
        const retryAfterMs = Math.min(Number(response.headers["retry-after"] ?? 0) || 0, 3600) * 1000;
        finish({ status: response.statusCode ?? 0, retryAfterMs, body: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", (error) => {
      // The bot had closed the kept-alive connection. That is no failure of the bot, so a new connection is tried at
      // once.
      const isStale = request.reusedSocket && "code" in error && error.code === "ECONNRESET";
      finish({ error: connectionError(error), isStale });
    });
    // Also ends a request whose answer is not needed any more, so that it cannot arrive later.
    request.setTimeout(this.#options.timeoutMs, () => request.destroy());
    request.end(body);
  }

  #finished(lane: Lane, record: UpdateRecord, attempt: UpdateAttempt, outcome: Outcome): void {
    const { updates, clock, redelivery } = this.#options;
    if (this.#closed) return;
    const accepted = attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300;
    if (accepted) {
      lane.queue.shift();
      lane.failures = 0;
      updates.attempted(record, attempt);
      if (record.state === "pending") updates.settle(record, "delivered");
      this.#runMethodIn(outcome.body ?? "");
      if (lane.queue.length === 0) this.#lanes.delete(record.lane);
    } else {
      const message =
        attempt.status === undefined
          ? (attempt.error ?? "")
          : `Wrong response from the webhook: ${attempt.status} ${http.STATUS_CODES[attempt.status] ?? ""}`.trim();
      this.lastError = { at: clock.now(), message };
      updates.attempted(record, attempt);
      const growingMs = restAfter(lane.failures + 1, redelivery.baseMs, redelivery.maxMs);
      const delayMs = outcome.isStale === true ? 0 : outcome.retryAfterMs || growingMs;
      if (outcome.isStale !== true) lane.failures += 1;
      lane.timer = clock.setTimeout(() => {
        delete lane.timer;
        this.#wake(lane);
      }, delayMs);
    }
    this.#wake(lane);
    this.#fill();
  }

  #runMethodIn(body: string): void {
    if (!body.trimStart().startsWith("{")) return;
    let call: unknown;
    try {
      call = JSON.parse(body);
    } catch {
      return; // Telegram ignores an answer that is not JSON.
    }
    if (typeof call === "object" && call !== null && "method" in call && typeof call.method === "string") {
      this.#options.onMethodInAnswer({ ...call });
    }
  }
}

function connectionError(error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  switch (code) {
    case "ECONNREFUSED":
      return "Connection refused";
    case "ECONNRESET":
      return "Connection reset by peer";
    case "ENOTFOUND":
      return "Failed to resolve host";
    default:
      return code === "" ? error.message : code;
  }
}
