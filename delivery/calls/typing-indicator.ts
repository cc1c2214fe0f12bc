import type { Clock } from "../../src/core/deps.ts";
import type { Address, CallFailure, Surface } from "../../src/core/surface.ts";
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
  /** Told of every failure; the indicator itself goes on. */
  readonly onFailure: (failure: CallFailure) => void;
}

/** A reply that is there by then needs no indicator, and its calls are better spent on the text. */
const DELAY_MS = 300;
/**
 * A turn that shows nothing for so long is no longer worth the calls. By default a turn may wait for two minutes for a
 * busy model server, and then for two more until the model begins.
 */
const LONGEST_MS = 5 * 60 * 1000;
/** A call for which there was no budget is not tried again before this time. */
const SHED_MS = 500;
/** The next call leaves when this share of the indicator's time is over. */
const REFRESH_SHARE = 0.8;

/**
 * Shows that the bot is writing, after a moment and again before it fades, until the returned function is called. A full budget
 * skips a call; nothing waits for it and no failure matters.
 */
export function showTyping(options: TypingOptions): () => void {
  const { clock, budget, surface, address, onFailure } = options;
  const startedAt = clock.now();
  const everyMs = Math.max(1_000, surface.typingLastsMs * REFRESH_SHARE);
  const stopped = new AbortController();
  let timer: unknown;

  /** Returns when the next call is due. */
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
    // A penalty counts, whoever still wants the indicator.
    if (!stopped.signal.aborted || CALL_RULES.typing[failure.kind] === "wait") onFailure(failure);
    return next;
  };

  const loop = async (): Promise<void> => {
    let next = clock.now() + everyMs;
    try {
      next = await once();
    } catch {
      // The budget cannot be asked: tried again at the next refresh.
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
