/** The second piece of a text comes so soon after the first, in milliseconds. */
const FIRST_WINDOW_MS = 100;

/**
 * How long text is collected after so many pieces of it: twice as long with each, up to `mergeMs`. The first word alone
 * may not be worth showing, and what follows it is waited for; later nobody sees how large the pieces are.
 */
export function mergeWindowMs(pieces: number, mergeMs: number): number {
  return Math.min(mergeMs, FIRST_WINDOW_MS * 2 ** Math.min(Math.max(0, pieces - 1), 10));
}
