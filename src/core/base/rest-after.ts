/**
 * Returns how long something rests after its last failure in a row, in milliseconds. Each failure doubles it.
 *
 * @param failures 1 after the first failure
 * @param firstMs rest after the first failure
 * @param mostMs longest rest
 */
export function restAfter(failures: number, firstMs: number, mostMs = Number.POSITIVE_INFINITY): number {
  return Math.min(firstMs * 2 ** (failures - 1), mostMs);
}
