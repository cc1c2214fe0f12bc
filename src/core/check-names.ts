import { closestName, distanceOf } from "./closest-name.ts";
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
