import { isRecord } from "../../core/json/is-record.ts";

/** The values that templates can name, by the first word of their path. */
export type TemplateValues = Readonly<Record<string, unknown>>;

/** One template that names nothing. */
export interface TemplateProblem {
  /** Where it is in the input. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const TEMPLATE = /\{\{\s*(\w+)((?:\.[\w-]+|\[\d+\])*)\s*\}\}/g;
const SEGMENT = /\.([\w-]+)|\[(\d+)\]/g;

/** Tells whether a value has text that may be a template with one of these first words. */
export function hasTemplates(input: unknown, roots: readonly string[]): boolean {
  if (typeof input === "string")
    return [...input.matchAll(TEMPLATE)].some(([, root = ""]) => roots.includes(root));
  if (Array.isArray(input)) return input.some((one) => hasTemplates(one, roots));
  return isRecord(input) && Object.values(input).some((one) => hasTemplates(one, roots));
}

/**
 * Replaces the templates of an input: `{{calls[0].id}}`. A text that is one template becomes the value itself. Within
 * other text, a template stands for a text, a number or a boolean. Values that were put in are not read again.
 *
 * Text with another first word is no template.
 */
export function fillTemplates(
  input: unknown,
  values: TemplateValues,
): { readonly input: unknown; readonly problems: readonly TemplateProblem[] } {
  const problems: TemplateProblem[] = [];
  const filled = fill(input, []);
  return { input: filled, problems };

  function fill(value: unknown, path: readonly (string | number)[]): unknown {
    if (typeof value === "string") return fillText(value, path);
    if (Array.isArray(value)) return value.map((one: unknown, index) => fill(one, [...path, index]));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, [...path, key])]));
  }

  function fillText(text: string, path: readonly (string | number)[]): unknown {
    const found = [...text.matchAll(TEMPLATE)].filter(([, root = ""]) => Object.hasOwn(values, root));
    if (found.length === 0) return text;
    const [only] = found;
    if (only?.[0] === text.trim()) return valueOf(only, path);
    return text.replace(TEMPLATE, (...match: string[]) => {
      const [whole = "", root = ""] = match;
      if (!Object.hasOwn(values, root)) return whole;
      const value = valueOf(match, path);
      if (value === undefined || ["string", "number", "boolean"].includes(typeof value)) return String(value);
      problems.push({ path, message: `${whole} is no text, number or boolean, so it must stand alone` });
      return whole;
    });
  }

  function valueOf(match: readonly string[], path: readonly (string | number)[]): unknown {
    const [whole = "", root = "", rest = ""] = match;
    let value: unknown = values[root];
    let name = root;
    for (const [segment, key, index] of rest.matchAll(SEGMENT)) {
      name += segment;
      const isThere =
        index === undefined
          ? isRecord(value) && Object.hasOwn(value, key ?? "")
          : Array.isArray(value) && Number(index) < value.length;
      value = isThere ? Reflect.get(value as object, index ?? key ?? "") : undefined;
      if (value === undefined) {
        problems.push({ path, message: `${whole} names nothing: there is no ${name}` });
        return undefined;
      }
    }
    return value;
  }
}
