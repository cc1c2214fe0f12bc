import { setTimeout as delay } from "node:timers/promises";

const ASK_EVERY_MS = 50;

export interface DrainOptions {
  /** Returns how many conversations of the bot have something to do within seconds. */
  readonly openWork: () => Promise<number>;
  /** Longest wait, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the wait early. */
  readonly hurried: AbortSignal;
}

/** Waits until a bot has nothing to do that needs only a moment. Never rejects. */
export async function drain({ hurried, openWork, timeoutMs }: DrainOptions): Promise<void> {
  const enough = AbortSignal.any([hurried, AbortSignal.timeout(timeoutMs)]);
  const ended = new Promise<void>((resolve) => enough.addEventListener("abort", () => resolve()));
  while (!enough.aborted) {
    if ((await Promise.race([openWork(), ended])) === 0) return;
    await delay(ASK_EVERY_MS, undefined, { signal: enough }).catch(() => undefined);
  }
}
