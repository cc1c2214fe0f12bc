import { ConfigurationError } from "./errors.ts";

/** Names of all options, as the keys of a record. The compiler reports a missing one. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, unknown>>;

export interface NamedOptions {
  /** Owner of the options: `telegramMessenger`, `the messenger "telegram"`. */
  readonly owner: string;
  /** Path inside the owner's options, such as `limits`. @default the options themselves */
  readonly at?: string;
  /** Code of the error. @default "messenger-option-invalid" */
  readonly code?: string;
}

/**
 * Refuses an option that does not exist, which would otherwise be ignored without a word.
 *
 * @throws {ConfigurationError} that names the option, and the one that was probably meant
 */
export function checkNames<Options>(
  given: unknown,
  names: OptionNames<Options>,
  { at, code = "messenger-option-invalid", owner }: NamedOptions,
): void {
  const problem = problemOf(given, names, owner, at);
  if (problem !== undefined) throw new ConfigurationError(code, problem);
}

/**
 * Names an option that does not exist, and the one that was probably meant. Undefined if there is none. An ignored
 * `idempotencyKey` would send everything twice.
 */
export function misspeltOption<Options>(
  given: unknown,
  names: OptionNames<Options>,
  owner: string,
): string | undefined {
  return problemOf(given, names, owner);
}

function problemOf(given: unknown, names: object, owner: string, at?: string): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return `${at ?? "The argument"} of ${owner} must be an object with any of: ${list(names)}.`;
  const name = Object.keys(given).find((key) => !Object.hasOwn(names, key));
  if (name === undefined) return undefined;
  const meant = closestName(name, Object.keys(names));
  const advice = meant === undefined ? `Use any of: ${list(names)}.` : `Did you mean "${meant}"?`;
  return `${at === undefined ? name : `${at}.${name}`} of ${owner} does not exist. ${advice}`;
}

function list(names: object): string {
  return Object.keys(names).join(", ");
}

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

/** Counts the letters to add, remove or replace to get from one word to the other. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const [replaced = 0, removed = 0, added = 0] = [row[column], row[column + 1], next[column]];
      next.push(Math.min(replaced + (letter === other ? 0 : 1), removed + 1, added + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
