/** A place in the bundle. */
export interface BundlePlace {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 0. */
  readonly column: number;
}

/** A place in one of the files that the bundle was made of. */
export interface SourcePlace extends BundlePlace {
  /** Position of the file in the map's `sources`. */
  readonly source: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

const COMMA = 44;
const SEMICOLON = 59;

/**
 * Finds the sources of places by one walk over the `mappings` of a source map, which keeps nothing. To decode them all
 * would take 100 MB, and many times as long.
 *
 * @returns for each place its source, or nothing if the map has none
 */
export function findSources(
  mappings: string,
  places: readonly BundlePlace[],
): readonly (SourcePlace | undefined)[] {
  const found: (SourcePlace | undefined)[] = places.map(() => undefined);
  const last = Math.max(...places.map(({ line }) => line));
  let at = 0;
  const isInSegment = () => at < mappings.length && !isSeparator(mappings.charCodeAt(at));
  /** Reads a number: digits of five bits, the least ones first, whose lowest bit is the sign. */
  const next = (): number => {
    let value = 0;
    let shift = 0;
    while (isInSegment()) {
      const digit = VALUES[mappings.charCodeAt(at++)] ?? 0;
      value |= (digit & 31) << shift;
      if (digit < 32) break;
      shift += 5;
    }
    return value & 1 ? -(value >>> 1) : value >>> 1;
  };
  let bundleLine = 1;
  let bundleColumn = 0;
  let source = 0;
  let line = 1;
  let column = 0;
  for (; at < mappings.length && bundleLine <= last; at++) {
    if (isInSegment()) {
      bundleColumn += next();
      const hasSource = isInSegment();
      if (hasSource) {
        source += next();
        line += next();
        column += next();
      }
      // The name of it, if there is one.
      next();
      for (const [index, place] of places.entries()) {
        if (place.line !== bundleLine || place.column < bundleColumn) continue;
        found[index] = hasSource ? { source, line, column } : undefined;
      }
    }
    if (mappings.charCodeAt(at) !== SEMICOLON) continue;
    bundleLine++;
    bundleColumn = 0;
  }
  return found;
}

function isSeparator(code: number): boolean {
  return code === COMMA || code === SEMICOLON;
}
