/** Time between the first and the second piece of a text, in milliseconds. */
const FIRST_WINDOW_MS = 100;

/**
 * Returns how long text is collected after this number of pieces. The time doubles with each piece, up to `mergeMs`.
 * The first word alone may not be worth showing, so the second piece comes soon. Later nobody notices the size of the
 * pieces.
 */
export function mergeWindowMs(pieces: number, mergeMs: number): number {
  return Math.min(mergeMs, FIRST_WINDOW_MS * 2 ** Math.min(Math.max(0, pieces - 1), 10));
}
