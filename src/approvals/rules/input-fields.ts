import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { CardField, Json } from "../../core/message/content.ts";
import { wordsIn } from "../../forms/words-in.ts";

/** A card has 50 fields, and other facts need some of them. */
const MOST_FIELDS = 28;
/** The longest value of a field. */
const LONGEST_VALUE = 1_024;
/** Lengths to which values are cut, one after the other, until they fit. */
const CUTS = [600, 300] as const;
const SHORTEST_CUT = 150;
const LONGEST_WORDS = 300;
const HIDDEN = "•••";
/** Shorter values are no secrets that can be found in a text: they would also hide harmless words. */
const SHORTEST_SECRET = 4;

const AMOUNT =
  /\b(?:amount|price|total|sum|cents|cost|fee|quantity|qty|count|number of|percent|discount|value|balance|limit)\b/;
const TARGET =
  /\b(?:ids?|order|account|user|customer|person|email|recipients?|to|address|iban|phone|invoice|name|target|channel|chat|repo|branch|ref|environment|path|file|url|host|table)\b/;

interface Named {
  readonly field: CardField;
  /** 0 amounts, 1 targets, 2 everything else. */
  readonly rank: number;
}

export interface InputFieldsOptions {
  /** Paths whose values are masked, with everything below them. */
  readonly sensitive?: readonly string[];
  /** Labels by path. @default words of the path */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Paths that are left out, because the card says their values elsewhere. */
  readonly without?: ReadonlySet<string>;
  /** Characters that there is room for. @default no limit */
  readonly room?: number | undefined;
  /** @default in English */
  readonly say?: Say;
}

/**
 * The input in words, one field for each value: amounts first, then targets, then the rest, each as the model wrote
 * them. If there is no room for all of it, long values are cut, and the last field says how many others there are.
 */
export function inputFields(
  input: Json,
  { labels = {}, room = Infinity, say = sayEnglish, sensitive = [], without }: InputFieldsOptions = {},
): CardField[] {
  const found: Named[] = [];
  const add = (value: Json, path: readonly string[]): void => {
    const name = path.join(".");
    if (without?.has(name) === true) return;
    const isHidden = sensitive.some((one) => name === one || name.startsWith(`${one}.`));
    const holdsHidden = sensitive.some((one) => path.length === 0 || one.startsWith(`${name}.`));
    const isObject = typeof value === "object" && value !== null;
    if (isObject && !isList(value) && path.length < 3 && !isHidden) {
      for (const [key, inner] of Object.entries(value)) add(inner, [...path, key]);
      return;
    }
    // A list, or deep inside: it is shown as a whole or not at all.
    const shown = isHidden || (holdsHidden && isObject) ? HIDDEN : wordsOf(value, say);
    const label = (Object.hasOwn(labels, name) ? labels[name] : undefined) ?? labelOf(path, say);
    found.push({ field: { label: label.slice(0, 256), value: shown }, rank: rankOf(path, value) });
  };
  add(input, []);
  const fields = found.toSorted((a, b) => a.rank - b.rank).map(({ field }) => field);
  return fitted(fields, room, say);
}

function fitted(fields: readonly CardField[], room: number, say: Say): CardField[] {
  const cutTo = (most: number): CardField[] =>
    fields.map(({ label, value }) => ({ label, value: shortened(value, most) }));
  const fits = (some: readonly CardField[]): boolean => some.length <= MOST_FIELDS && lengthOf(some) <= room;
  for (const most of [LONGEST_VALUE, ...CUTS, SHORTEST_CUT]) {
    const cut = cutTo(most);
    if (fits(cut)) return cut;
  }
  const shown = cutTo(room === Infinity ? LONGEST_VALUE : SHORTEST_CUT);
  const rest = (kept: readonly CardField[]): CardField => ({
    label: say("moreValuesLabel"),
    value: say("moreValues", { count: fields.length - kept.length }),
  });
  let kept = shown.slice(0, MOST_FIELDS - 1);
  while (kept.length > 1 && !fits([...kept, rest(kept)])) kept = kept.slice(0, -1);
  return [...kept, rest(kept)];
}

function lengthOf(fields: readonly CardField[]): number {
  return fields.reduce((sum, { label, value }) => sum + label.length + value.length + 3, 0);
}

function rankOf(path: readonly string[], value: Json): number {
  const words = wordsIn(path);
  if (AMOUNT.test(words) && typeof value !== "boolean") return 0;
  return TARGET.test(words) ? 1 : 2;
}

/** Returns the input with the values of sensitive paths masked. */
export function maskedInput(input: Json, sensitive: readonly string[], path: readonly string[] = []): Json {
  if (path.length > 0 && sensitive.includes(path.join("."))) return HIDDEN;
  if (typeof input !== "object" || input === null) return input;
  // The elements of a list have the path of the list.
  if (isList(input)) return input.map((one) => maskedInput(one, sensitive, path));
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    maskedInput(value, sensitive, [...path, key]),
  ]);
  return Object.fromEntries(entries) as Json;
}

/** Masks the values of sensitive paths where other texts repeat them: a summary, a preview, words of the model. */
export function masked(text: string, input: Json, sensitive: readonly string[]): string {
  const values = sensitive.flatMap((path) => secretsAt(input, path.split(".")));
  return values
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, HIDDEN), text);
}

function secretsAt(value: Json | undefined, path: readonly string[]): string[] {
  if (value === undefined || value === null) return [];
  const [key, ...rest] = path;
  if (typeof value === "object") {
    if (isList(value)) return value.flatMap((one) => secretsAt(one, path));
    const below = key === undefined ? Object.values(value) : [value[key]];
    return below.flatMap((one) => secretsAt(one, rest));
  }
  const text = String(value);
  return key === undefined && text.length >= SHORTEST_SECRET ? [text] : [];
}

/** `orderId` becomes "Order id", `card.number` "Card number". */
function labelOf(path: readonly string[], say: Say): string {
  const words = wordsIn(path);
  return (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 256).trim() || say("inputLabel");
}

/** A JSON value as a person reads it. */
export function wordsOf(value: Json, say: Say = sayEnglish): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return say(value ? "yesWord" : "noWord");
  if (typeof value === "string") return value === "" ? "–" : value;
  if (typeof value === "number") return String(value);
  const parts = isList(value)
    ? value.map((part) => partOf(part, say))
    : Object.entries(value).map(([name, part]) => `${wordsIn([name]).trim()}: ${partOf(part, say)}`);
  return parts.length === 0 ? "–" : parts.join(", ");
}

/** A value inside of another one. */
function partOf(value: Json, say: Say): string {
  return typeof value === "object" && value !== null ? `(${wordsOf(value, say)})` : wordsOf(value, say);
}

export function shortened(text: string, most = LONGEST_WORDS): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
