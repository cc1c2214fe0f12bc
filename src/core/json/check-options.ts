import { closestName, distanceOf } from "../text/closest-name.ts";
import { ConfigurationError } from "../base/errors.ts";

/**
 * The values that an option takes: in words, and as a test. An object among them may have options of its own, which are
 * checked first.
 */
export type OptionRule = readonly [takes: string, fits: (value: unknown) => boolean, inside?: Rules];

/** Rules by option. A record has the options of an option that is an object; `true` takes any value. */
export interface Rules {
  readonly [option: string]: OptionRule | Rules | true;
}

/** Rules of all options. The compiler reports a missing one. */
export type OptionRules<Options> = Readonly<Record<keyof Required<Options>, OptionRule | Rules | true>>;

export const isFunction = (value: unknown): boolean => typeof value === "function";
export const isText = (value: unknown): value is string => typeof value === "string";
export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const FLAG: OptionRule = ["true or false", (value) => typeof value === "boolean"];
export const FUNCTION: OptionRule = ["a function", isFunction];
export const TEXT: OptionRule = ["a text", isText];
export const NOT_NEGATIVE: OptionRule = ["a number of 0 or more", (value) => isNumber(value) && value >= 0];
export const POSITIVE: OptionRule = ["a number above 0", (value) => isNumber(value) && value > 0];

/** Takes whole numbers. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): OptionRule {
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
  return [
    `a whole number ${range}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  ];
}

/** Takes some words. */
export function oneOf(...words: readonly string[]): OptionRule {
  const quoted = words.map((word) => `"${word}"`);
  return [
    `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`,
    (value) => words.some((word) => word === value),
  ];
}

export function orFunction([takes, fits, inside]: OptionRule, of = "a function"): OptionRule {
  return [`${takes.replace(/ or /, ", ")} or ${of}`, (value) => fits(value) || isFunction(value), inside];
}

export function listOf(takes: string, fits: (value: unknown) => boolean): OptionRule {
  return [takes, (value) => Array.isArray(value) && value.every(fits)];
}

/** Returns rules that check the names of options only. */
export function namesOf<Options extends object>(options: Options): OptionRules<Options> {
  return Object.fromEntries(Object.keys(options).map((name) => [name, true])) as OptionRules<Options>;
}

export interface NamedOptions {
  /** Owner of the options: `telegramMessenger`, `the messenger "telegram"`. @default the sentence before names it */
  readonly owner?: string;
  /** Path inside the owner's options, such as `limits`. @default the options themselves */
  readonly at?: string;
  /** Where all names are, if they are too many for an error. @default the error lists them */
  readonly listedIn?: string;
}

/**
 * Refuses an option that does not exist, which would otherwise be ignored without a word, and a value that an option
 * does not take. Bots in plain JavaScript, and values of an environment, are not checked by the compiler.
 *
 * @param code of the error
 * @throws {ConfigurationError} that names the option, and the values that it takes or the name that was probably meant
 */
export function checkOptions<Options>(
  given: unknown,
  rules: OptionRules<Options>,
  { code = "messenger-option-invalid", ...named }: NamedOptions & { readonly code?: string },
): void {
  const problem = optionProblem(given, rules, named);
  if (problem !== undefined) throw new ConfigurationError(code, problem);
}

/** Returns the first mistake in options, as a sentence. Undefined if there is none. Never repeats a text (I10). */
export function optionProblem<Options>(
  given: unknown,
  rules: OptionRules<Options>,
  { at, listedIn, owner }: NamedOptions,
): string | undefined {
  return given === undefined
    ? undefined
    : findProblem(given, rules, at, owner === undefined ? "" : ` of ${owner}`, listedIn);
}

function findProblem(
  given: unknown,
  rules: Rules,
  at: string | undefined,
  of: string,
  listedIn?: string,
): string | undefined {
  const names = Object.keys(rules);
  if (!isObject(given)) {
    const which =
      listedIn === undefined ? ` with any of: ${names.join(", ")}.` : `. ${listedIn} has all names.`;
    return `${at ?? (of === "" ? "It" : "The argument")}${of} must be an object${which}`;
  }
  const pathOf = (name: string): string => (at === undefined ? name : `${at}.${name}`);
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(rules, key));
  if (unknown !== undefined)
    return `${pathOf(unknown)}${of} does not exist. ${adviceOn(unknown, names, listedIn)}`;
  for (const [name, rule] of Object.entries(rules)) {
    const value: unknown = Reflect.get(given, name);
    const problem = value === undefined ? undefined : valueProblem(value, rule, pathOf(name), of);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function valueProblem(
  value: unknown,
  rule: OptionRule | Rules | true,
  at: string,
  of: string,
): string | undefined {
  const unset = unsetItem(`${at}${of}`, value);
  if (unset !== undefined) return unset;
  if (rule === true) return undefined;
  if (isRecord(rule)) return findProblem(value, rule, at, of);
  const [takes, fits, inside] = rule;
  const problem = inside !== undefined && isObject(value) ? findProblem(value, inside, at, of) : undefined;
  if (problem !== undefined || fits(value)) return problem;
  const is = typeof value === "number" ? ` It is ${value}.` : "";
  return `${at}${of} must be ${takes}.${is}${meantWord(value, takes)}`;
}

function isRecord(rule: OptionRule | Rules): rule is Rules {
  return !Array.isArray(rule);
}

function meantWord(value: unknown, takes: string): string {
  const words = Array.from(takes.matchAll(/"([^"]+)"/g), ([, word = ""]) => word);
  const meant = isText(value) ? closestName(value, words) : undefined;
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}

/** Says that an item of a list is not set, as in `[env.MANAGER_ID]` without that variable. */
function unsetItem(option: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const at = value.findIndex((item) => item === undefined || item === null || item === "");
  if (at === -1) return undefined;
  return `${option} has a value that is not set: item ${at + 1} of ${value.length}. If it comes from a variable, such as env.MANAGER_ID, set that variable.`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function adviceOn(name: string, known: readonly string[], listedIn: string | undefined): string {
  const meant = closestName(name, known);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  if (listedIn === undefined) return `Use any of: ${known.join(", ")}.`;
  const similar = namesWithWordOf(name, known).map((candidate) => `"${candidate}"`);
  return similar.length === 0 ? `${listedIn} has all names.` : `Did you mean ${similar.join(" or ")}?`;
}

/** Returns up to three known names that share words with `name`: those with the most first, then the most similar. */
function namesWithWordOf(name: string, known: readonly string[]): readonly string[] {
  const words = new Set(wordsOf(name));
  return known
    .map((candidate) => ({
      candidate,
      shared: wordsOf(candidate).filter((word) => words.has(word)).length,
      distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ shared }) => shared > 0)
    .toSorted((left, right) => right.shared - left.shared || left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Returns the words of a name such as `approveButton`, in lower case. */
function wordsOf(name: string): readonly string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}
