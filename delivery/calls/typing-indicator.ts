import type { Clock } from "../../src/core/base/deps.ts";
import type { Address, CallFailure, Surface } from "../../src/core/chat/surface.ts";
import { CALL_RULES } from "./call-policy.ts";
import { callWithin } from "./call-within.ts";
import { failureOf } from "./delivery-context.ts";
import type { GateClient } from "../budget/gate-client.ts";

export interface TypingOptions {
  readonly clock: Clock;
  readonly budget: GateClient;
  readonly surface: Surface;
  readonly address: Address;
  readonly callTimeoutMs: number;
  /** Called for every failure. The indicator itself continues. */
  readonly onFailure: (failure: CallFailure) => void;
}

/**
 * Delay before the indicator. A reply that is visible by then needs none, and its calls are better spent on the text.
 */
const DELAY_MS = 300;
/**
 * Longest time of the indicator; after that it is not worth the calls. By default a turn may wait two minutes for a
 * busy model server, and then two more until the model begins.
 */
const LONGEST_MS = 5 * 60 * 1000;
/** A call that got no budget is tried again after this time. */
const SHED_MS = 500;
/** The next call is made when this share of the indicator's time is over. */
const REFRESH_SHARE = 0.8;

/**
 * Shows that the bot is writing, after a moment, and again before the indicator fades, until the returned function is
 * called. Without budget a call is skipped. Nothing waits for the indicator, and its failures do not matter.
 */
export function showTyping(options: TypingOptions): () => void {
  const { clock, budget, surface, address, onFailure } = options;
  const startedAt = clock.now();
  const everyMs = Math.max(1_000, surface.typingLastsMs * REFRESH_SHARE);
  const stopped = new AbortController();
  let timer: unknown;

  /** Makes one call. Returns when the next one is due. */
  const once = async (): Promise<number> => {
    const next = clock.now() + everyMs;
    const grant = await budget.acquire(address, "typing", surface);
    if (stopped.signal.aborted) return next;
    if (grant.kind === "wait") return Math.max(grant.retryAt, clock.now() + SHED_MS);
    const outcome = await callWithin(clock, options.callTimeoutMs, (signal) =>
      surface.typing(address, { signal: AbortSignal.any([signal, stopped.signal]) }),
    );
    if (outcome.kind === "done") return next;
    const failure = failureOf(surface, outcome);
    // A penalty counts even if the indicator is no longer wanted.
    if (!stopped.signal.aborted || CALL_RULES.typing[failure.kind] === "wait") onFailure(failure);
    return next;
  };

  const loop = async (): Promise<void> => {
    let next = clock.now() + everyMs;
    try {
      next = await once();
    } catch {
      // The budget cannot be asked. The next refresh tries again.
      onFailure({ kind: "transient", code: "budget-unreachable" });
    }
    if (stopped.signal.aborted) return;
    next = Math.max(next, clock.now() + 1);
    if (next - startedAt > LONGEST_MS) return;
    timer = clock.setTimeout(() => void loop(), next - clock.now());
  };

  timer = clock.setTimeout(() => void loop(), DELAY_MS);
  return () => {
    if (stopped.signal.aborted) return;
    stopped.abort(new DOMException("The text is visible.", "AbortError"));
    clock.clearTimeout(timer);
  };
}
