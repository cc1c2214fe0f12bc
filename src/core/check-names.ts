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
  /** Where all names are, if they are too many for an error. @default the error lists them */
  readonly listedIn?: string;
}

/**
 * Refuses an option that does not exist, which would otherwise be ignored without a word.
 *
 * @throws {ConfigurationError} that names the option, and the one that was probably meant
 */
export function checkNames<Options>(
  given: unknown,
  names: OptionNames<Options>,
  { code = "messenger-option-invalid", ...owned }: NamedOptions,
): void {
  const problem = problemOf(given, names, owned);
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
  return problemOf(given, names, { owner });
}

function problemOf(given: unknown, names: object, { at, listedIn, owner }: NamedOptions): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const which = listedIn === undefined ? ` with any of: ${list(names)}.` : `. ${listedIn} has all names.`;
    return `${at ?? "The argument"} of ${owner} must be an object${which}`;
  }
  const name = Object.keys(given).find((key) => !Object.hasOwn(names, key));
  if (name === undefined) return undefined;
  const advice = adviceOn(name, Object.keys(names), listedIn);
  return `${at === undefined ? name : `${at}.${name}`} of ${owner} does not exist. ${advice}`;
}

function adviceOn(name: string, known: readonly string[], listedIn: string | undefined): string {
  const meant = closestName(name, known);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  if (listedIn === undefined) return `Use any of: ${known.join(", ")}.`;
  const similar = namesWithWordOf(name, known).map((candidate) => `"${candidate}"`);
  return similar.length === 0 ? `${listedIn} has all names.` : `Did you mean ${similar.join(" or ")}?`;
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

/** Returns up to three known names that share a word with `name`, the most similar first. */
function namesWithWordOf(name: string, known: readonly string[]): readonly string[] {
  const words = new Set(wordsOf(name));
  return known
    .filter((candidate) => wordsOf(candidate).some((word) => words.has(word)))
    .map((candidate) => ({ candidate, distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Returns the words of a name such as `approveButton`, in lower case. */
function wordsOf(name: string): readonly string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
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
