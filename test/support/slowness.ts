/** A quiet machine starts a bot in less. */
const QUIET_START_MS = 2_000;

/**
 * Runs the start of a bot. Returns how many times longer it took than on a quiet machine, at least 1. A limit in real
 * time is multiplied by it, so that it holds on a busy machine, too.
 */
export async function slownessOf(start: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  await start();
  return Math.max(1, (performance.now() - begunAt) / QUIET_START_MS);
}
