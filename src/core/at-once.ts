/** What needs nobody else is settled within so many rounds of promises, without leaving the object. */
const ROUNDS = 64;

/** The outcome of work that is settled before anything else can happen; `undefined` when it takes longer, or fails. */
export async function atOnce<T>(work: Promise<T>): Promise<T | undefined> {
  const state: { isSettled: boolean; outcome: T | undefined } = { isSettled: false, outcome: undefined };
  work.then(
    (outcome) => Object.assign(state, { isSettled: true, outcome }),
    () => Object.assign(state, { isSettled: true }),
  );
  for (let round = 0; round < ROUNDS && !state.isSettled; round += 1) await Promise.resolve();
  return state.outcome;
}
