import type { Deps, Timer } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { Collector } from "./collector.ts";
import { otlpBody } from "./span.ts";
import type { Attributes, Span } from "./span.ts";

export interface SpanExportOptions {
  readonly deps: Pick<Deps, "clock" | "fetch">;
  readonly log: Log;
  readonly collector: Collector;
  readonly resource: Attributes;
}

/** Time from a span to its export, for the others that come with it. */
const GATHER_MS = 1_000;
/** Most spans of one request, and most that wait. */
const MOST_IN_REQUEST = 128;
const MOST_WAITING = 512;
/** Longest time of one request. */
const REQUEST_MS = 10_000;
/** Pauses before a refused request is made again. After the last one its spans are dropped. */
const PAUSES_MS = [2_000, 8_000];
/** Answers after which the protocol allows the same request again. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Time between two lines about failures. */
const LOG_EVERY_MS = 60_000;

/**
 * Sends spans to a collector.
 *
 * 1. Nobody waits for it, and no failure leaves it.
 * 2. At most 512 spans wait, in memory. Later ones are dropped, and the log says how many.
 * 3. One request at a time.
 */
export class SpanExport {
  readonly #options: SpanExportOptions;
  readonly #waiting: Span[] = [];
  #timer: Timer | undefined;
  #failures = 0;
  #dropped = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SpanExportOptions) {
    this.#options = options;
  }

  add(spans: readonly Span[]): void {
    for (const span of spans) {
      if (this.#waiting.length < MOST_WAITING) this.#waiting.push(span);
      else this.#dropped += 1;
    }
    if (this.#waiting.length > 0) this.#sendIn(GATHER_MS);
  }

  #sendIn(delayMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.#options.deps.clock.setTimeout(() => void this.#send(), delayMs);
  }

  async #send(): Promise<void> {
    const batch = this.#waiting.slice(0, MOST_IN_REQUEST);
    const failure = await this.#post(batch);
    if (failure === undefined || !failure.mayRepeat || this.#failures >= PAUSES_MS.length) {
      this.#waiting.splice(0, batch.length);
      if (failure !== undefined) this.#failed(failure.code, batch.length);
      this.#failures = 0;
    } else {
      this.#failures += 1;
    }
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#sendIn(PAUSES_MS[this.#failures - 1] ?? GATHER_MS);
  }

  /** Makes one request. Returns why it has failed. */
  async #post(batch: readonly Span[]): Promise<{ code: string; mayRepeat: boolean } | undefined> {
    const { collector, deps, resource } = this.#options;
    const limit = new AbortController();
    try {
      const request = deps.fetch(collector.url, {
        method: "POST",
        headers: { ...collector.headers, "content-type": "application/json" },
        body: otlpBody(batch, resource),
        // The headers are for this address only.
        redirect: "manual",
        signal: limit.signal,
      });
      const response = await withinTime(deps.clock, REQUEST_MS, request, "telemetry");
      await response.body?.cancel();
      return response.ok
        ? undefined
        : { code: `http-${response.status}`, mayRepeat: BUSY.has(response.status) };
    } catch (error) {
      return { code: failureCode(error), mayRepeat: true };
    } finally {
      limit.abort();
    }
  }

  #failed(code: string, spans: number): void {
    const { deps, log } = this.#options;
    this.#dropped += spans;
    const now = deps.clock.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = now;
    log.warn("telemetry.not-exported", { code, spans: this.#dropped });
    this.#dropped = 0;
  }
}
