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
const VALUES = new Uint8Array(256);
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
  // The first one last. The walk waits for one place at a time.
  const waiting = places
    .map((place, index) => ({ ...place, index }))
    .toSorted((a, b) => b.line - a.line || b.column - a.column);
  let place = waiting.pop();
  let bundleLine = 1;
  let bundleColumn = 0;
  let source = 0;
  let line = 1;
  let column = 0;
  /** Whether the last segment is in this line of the bundle, and has a source. */
  let hasSource = false;
  /** Position of the number in its segment: column of the bundle, source, line, column, name. */
  let field = 0;
  let value = 0;
  let shift = 0;
  const codes = Buffer.from(mappings, "latin1");
  for (let at = 0; at <= codes.length && place !== undefined; at++) {
    const code = codes[at] ?? SEMICOLON;
    if (code !== COMMA && code !== SEMICOLON) {
      // Digits of five bits, the least ones first. The lowest bit of the number is its sign.
      const digit = VALUES[code] ?? 0;
      value |= (digit & 31) << shift;
      shift += 5;
      if (digit >= 32) continue;
      const number = value & 1 ? -(value >>> 1) : value >>> 1;
      value = 0;
      shift = 0;
      field++;
      if (field === 1) {
        bundleColumn += number;
        while (place?.line === bundleLine && place.column < bundleColumn) {
          if (hasSource) found[place.index] = { source, line, column };
          place = waiting.pop();
        }
        hasSource = false;
      } else if (field === 2) {
        source += number;
        hasSource = true;
      } else if (field === 3) line += number;
      else if (field === 4) column += number;
      continue;
    }
    field = 0;
    value = 0;
    shift = 0;
    if (code === COMMA) continue;
    while (place !== undefined && place.line <= bundleLine) {
      if (hasSource && place.line === bundleLine) found[place.index] = { source, line, column };
      place = waiting.pop();
    }
    hasSource = false;
    bundleLine++;
    bundleColumn = 0;
  }
  return found;
}
