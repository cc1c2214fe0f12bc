/** Returns the known name that `name` was probably meant to be. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const candidates = known
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.ceil(candidate.length / 4))
    .toSorted((left, right) => left.distance - right.distance);
  return candidates[0]?.candidate ?? known.find((candidate) => isShortened(wanted, candidate.toLowerCase()));
}

/** True if `short` is `long` with letters left out: `turnsPerDay` for `turnsPerPersonPerDay`. */
function isShortened(short: string, long: string): boolean {
  if (short.length * 2 < long.length) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

/**
 * Counts the letters to add, remove or replace to get from one word to the other. It stops above `most`, with any number
 * above it.
 */
export function distanceOf(from: string, to: string, most = Infinity): number {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const [replaced = 0, removed = 0, added = 0] = [row[column], row[column + 1], next[column]];
      next.push(Math.min(replaced + (letter === other ? 0 : 1), removed + 1, added + 1));
    }
    if (Math.min(...next) > most) return most + 1;
    row = next;
  }
  return row.at(-1) ?? 0;
}
