/**
 * Returns code that makes the time and the random numbers of a run the same in each replay: the clock stands still at its
 * start, and the numbers follow from its seed.
 *
 * @param startedAt epoch milliseconds
 */
export function steadySource(startedAt: number, seed: string): string {
  return `(() => {
  const Clock = globalThis.Date;
  const startedAt = ${Math.trunc(startedAt)};
  function Steady(...parts) {
    if (new.target === undefined) return new Clock(startedAt).toString();
    return Reflect.construct(Clock, parts.length === 0 ? [startedAt] : parts, new.target);
  }
  Object.defineProperties(Steady, {
    now: { value: () => startedAt, writable: true, configurable: true },
    parse: { value: Clock.parse, writable: true, configurable: true },
    UTC: { value: Clock.UTC, writable: true, configurable: true },
    name: { value: "Date" },
  });
  Steady.prototype = Clock.prototype;
  Clock.prototype.constructor = Steady;
  globalThis.Date = Steady;
  let state = ${seedOf(seed)};
  Math.random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
})();`;
}

/** Returns a number that is never 0, which a shift register would keep. */
function seedOf(seed: string): number {
  let mixed = 0x9e3779b9;
  for (const character of seed) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return mixed | 1;
}
