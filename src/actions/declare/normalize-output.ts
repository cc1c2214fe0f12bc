import type { Json } from "../../core/message/content.ts";

/** Most characters of an output that the model gets. */
export const MAX_OUTPUT_CHARACTERS = 20_000;

/** Nesting below this is left out. Deeper values overflow the stack when they are written as JSON. */
const MAX_DEPTH = 64;

/**
 * Returns an action's output as JSON that a model can read and a ledger can store.
 *
 * - `undefined`, functions and symbols become `null`, and are left out of objects.
 * - A `bigint` becomes a string of digits, a `Date` an ISO string, `NaN` and infinities `null`.
 * - A `Map` becomes an object or a list of pairs, a `Set` a list, bytes a note of their length.
 * - An `Error` becomes `{ name }`: its message may hold what a chat must not show (I10).
 * - A value that contains itself becomes `"[circular]"` at that place.
 * - Anything over 20,000 characters becomes a text: its beginning, and how much was left out.
 */
export function normalizeOutput(output: unknown): Json {
  return capped(toJson(output));
}

/**
 * Returns a value as JSON, by the rules of `normalizeOutput`, of any length.
 *
 * @param replace called for every object; returns what stands for it, or `undefined` to keep it
 */
export function toJson(value: unknown, replace: Replace = () => undefined): Json {
  return jsonOf(value, [], replace) ?? null;
}

type Replace = (value: object) => Json | undefined;

function jsonOf(value: unknown, within: readonly object[], replace: Replace): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : null;
    case "bigint":
      return value.toString();
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (within.includes(value)) return "[circular]";
  if (within.length >= MAX_DEPTH) return "[nested too deep]";
  const inside = [...within, value];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { name: value.name };
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Set) return listOf([...value], inside, replace);
  if (value instanceof Map) {
    const hasNames = [...value.keys()].every((key) => typeof key === "string");
    return hasNames
      ? objectOf([...value] as [string, unknown][], inside, replace)
      : listOf([...value], inside, replace);
  }
  if (Array.isArray(value)) return listOf(value, inside, replace);
  if ("toJSON" in value && typeof value.toJSON === "function") return jsonOf(value.toJSON(), inside, replace);
  return objectOf(Object.entries(value), inside, replace);
}

function listOf(values: readonly unknown[], within: readonly object[], replace: Replace): Json {
  return values.map((value) => jsonOf(value, within, replace) ?? null);
}

function objectOf(
  entries: readonly (readonly [string, unknown])[],
  within: readonly object[],
  replace: Replace,
): Json {
  const kept: [string, Json][] = [];
  for (const [key, value] of entries) {
    const json = jsonOf(value, within, replace);
    if (json !== undefined) kept.push([key, json]);
  }
  return Object.fromEntries(kept);
}

function capped(json: Json): Json {
  const text = typeof json === "string" ? json : JSON.stringify(json);
  if (text.length <= MAX_OUTPUT_CHARACTERS) return json;
  const omitted = (end: number) =>
    `\n[${(text.length - end).toLocaleString("en")} more characters were left out]`;
  let end = MAX_OUTPUT_CHARACTERS - omitted(0).length;
  // A pair of surrogates is one character.
  if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}${omitted(end)}`;
}
