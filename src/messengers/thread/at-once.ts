/** Most rounds of promises to wait. Work that does not leave the object settles within them. */
const ROUNDS = 64;

/**
 * Waits for work that settles before any other event of the object can run. Returns undefined if it takes longer or
 * fails.
 */
export async function atOnce<T>(work: Promise<T>): Promise<T | undefined> {
  const state: { isSettled: boolean; outcome: T | undefined } = { isSettled: false, outcome: undefined };
  work.then(
    (outcome) => Object.assign(state, { isSettled: true, outcome }),
    () => Object.assign(state, { isSettled: true }),
  );
  for (let round = 0; round < ROUNDS && !state.isSettled; round += 1) await Promise.resolve();
  return state.outcome;
}
