/** Numbers from a seed, the same in every process. All random decisions of a simulation come from here. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns a whole number from `least` to `most`, both included. */
  int(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<const Value>(values: readonly [Value, ...Value[]]): Value;
  /** Returns a separate generator, so that one part's numbers do not depend on how many another part uses. */
  fork(label: string): Random;
}

/** The generator "sfc32": 128 bits of state, no multiplication, passes PractRand. */
export function createRandom(seed: number | string): Random {
  const [a0, b0, c0, d0] = spread(String(seed));
  let a = a0;
  let b = b0;
  let c = c0;
  let d = d0;
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 12; round += 1) next();
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (values) => values[int(0, values.length - 1)] ?? values[0],
    fork: (label) => createRandom(`${String(seed)}/${label}`),
  };
}

/** Four well mixed words of any text (FNV-1a from four beginnings). */
function spread(text: string): readonly [number, number, number, number] {
  const word = (start: number): number => {
    let hash = start;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
    hash = Math.imul(hash ^ (hash >>> 16), 2_246_822_507);
    return hash ^ (hash >>> 13);
  };
  return [word(2_166_136_261), word(1_234_567_891), word(987_654_321), word(55_555_333)];
}
