import type { CardField, Json } from "../core/content.ts";

const MOST_FIELDS = 12;
const LONGEST_VALUE = 300;
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

/**
 * The input in words, one field for each value: amounts first, then targets, then the rest, each as the model wrote
 * them. Values of sensitive paths are masked, with everything below them.
 */
export function inputFields(input: Json, sensitive: readonly string[]): CardField[] {
  const found: Named[] = [];
  const add = (value: Json, path: readonly string[]): void => {
    const name = path.join(".");
    const isHidden = sensitive.some((one) => name === one || name.startsWith(`${one}.`));
    const holdsHidden = sensitive.some((one) => path.length === 0 || one.startsWith(`${name}.`));
    const isObject = typeof value === "object" && value !== null;
    if (isObject && !isList(value) && path.length < 3 && !isHidden) {
      for (const [key, inner] of Object.entries(value)) add(inner, [...path, key]);
      return;
    }
    // A list, or deep inside: it is shown as a whole or not at all.
    const shown = isHidden || (holdsHidden && isObject) ? HIDDEN : shortened(wordsOf(value));
    const label = labelOf(path);
    found.push({ field: { label, value: shown }, rank: rankOf(label, value) });
  };
  add(input, []);
  const fields = found.toSorted((a, b) => a.rank - b.rank).map(({ field }) => field);
  if (fields.length <= MOST_FIELDS) return fields;
  const left = fields.length - MOST_FIELDS + 1;
  return [...fields.slice(0, MOST_FIELDS - 1), { label: "And", value: `${left} more values` }];
}

function rankOf(label: string, value: Json): number {
  const words = label.toLowerCase();
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
function labelOf(path: readonly string[]): string {
  if (path.length === 0) return "Input";
  const words = path
    .join(" ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
  return (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 256).trim() || "Input";
}

/** A JSON value as a person reads it. */
export function wordsOf(value: Json): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value === "" ? "–" : value;
  if (typeof value === "number") return String(value);
  const parts = isList(value)
    ? value.map(partOf)
    : Object.entries(value).map(([name, part]) => `${labelOf([name]).toLowerCase()}: ${partOf(part)}`);
  return parts.length === 0 ? "–" : parts.join(", ");
}

/** A value inside of another one. */
function partOf(value: Json): string {
  return typeof value === "object" && value !== null ? `(${wordsOf(value)})` : wordsOf(value);
}

export function shortened(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
