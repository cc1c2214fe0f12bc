import type { Json } from "../core/message/content.ts";
import { inOneLine } from "../core/text/one-line.ts";
import { shortDescription } from "../core/text/short-description.ts";
import { wordsIn } from "./words-in.ts";
import type { ChoiceField, FieldKind, FileField, FormField, NumberField, TextField } from "./form.ts";
import { isObject, listIn, numberIn, plainValue, resolved, textIn } from "./json-schema.ts";
import type { SchemaObject } from "./json-schema.ts";

export interface FieldOptions {
  /** The whole schema, to which references point. */
  readonly root: SchemaObject;
  /** Labels by name, and by name and value for the options of a choice: `{ reason: "Why", "reason.broken": "Broken" }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names of the fields that are sensitive. Fields of the format `password` always are. */
  readonly sensitive?: readonly string[];
  /** Whether long descriptions are for the person, and not for a model. @default true */
  readonly hasHelp?: boolean;
}

const LONGEST_LABEL = 256;
const LONGEST_HELP = 600;
const MOST_OPTIONS = 200;

/** Returns the field that asks for a value of a schema. Undefined if no field can. */
export function fieldOf(
  name: string,
  schema: Json | undefined,
  isRequired: boolean,
  options: FieldOptions,
): FormField | undefined {
  const outer = resolved(schema, options.root);
  if (!isObject(outer)) return undefined;
  const { inner, isNullable } = withoutNull(outer, options.root);
  const kind = kindOf(name, inner, options);
  if (kind === undefined) return undefined;
  const isSensitive = options.sensitive?.includes(name) === true || inner["format"] === "password";
  const described = { ...inner, ...outer };
  return {
    name,
    ...wordsOf(name, described, options),
    ...((!isRequired || isNullable) && { isOptional: true }),
    ...(isNullable && isRequired && { isNullable }),
    ...(outer["default"] !== undefined && outer["default"] !== null && { default: outer["default"] }),
    ...(isSensitive && { isSensitive }),
    ...kind,
  };
}

function wordsOf(
  name: string,
  schema: SchemaObject,
  { hasHelp = true, labels = {} }: FieldOptions,
): Pick<FormField, "label" | "help"> {
  const description = textIn(schema, "description")?.trim() ?? "";
  const short = shortDescription(description);
  const own = Object.hasOwn(labels, name) ? labels[name] : undefined;
  const key = wordsIn([name]);
  const label = own ?? textIn(schema, "title") ?? short ?? key.charAt(0).toUpperCase() + key.slice(1);
  const help = hasHelp && description !== label ? inOneLine(description).slice(0, LONGEST_HELP) : "";
  return { label: inOneLine(label).slice(0, LONGEST_LABEL), ...(help !== "" && { help }) };
}

/** Libraries write "or null" in two ways. */
function withoutNull(
  schema: SchemaObject,
  root: SchemaObject,
): { readonly inner: SchemaObject; readonly isNullable: boolean } {
  const types = listIn(schema, "type");
  if (types?.length === 2 && types.includes("null")) {
    const type = types.find((one) => one !== "null") ?? null;
    const { enum: values, ...others }: SchemaObject = schema;
    const without = Array.isArray(values) ? values.filter((value) => value !== null) : undefined;
    return { inner: { ...others, type, ...(without !== undefined && { enum: without }) }, isNullable: true };
  }
  for (const key of ["anyOf", "oneOf"]) {
    const branches = listIn(schema, key)?.map((branch) => resolved(branch, root));
    const others = branches?.filter((branch) => !isObject(branch) || branch["type"] !== "null");
    if (branches === undefined || others === undefined || others.length === branches.length) continue;
    const [only, ...more] = others;
    if (more.length > 0) return { inner: { ...schema, [key]: others as Json[] }, isNullable: true };
    if (isObject(only)) return { inner: only, isNullable: true };
  }
  return { inner: schema, isNullable: false };
}

function kindOf(name: string, schema: SchemaObject, options: FieldOptions): FieldKind | undefined {
  const choice = choiceOf(name, schema, options);
  if (choice !== undefined) return choice;
  const format = textIn(schema, "format");
  if (format === "file" || format === "photo") return fileOf(format, schema);
  if (format === "place") return { kind: "place" };
  switch (schema["type"]) {
    case "string":
      return textual(format, schema);
    case "number":
    case "integer":
      return numeric(schema);
    default:
      return undefined;
  }
}

/** Options come as `enum`, as one `const`, or as a union of constants with titles. */
function choiceOf(
  name: string,
  schema: SchemaObject,
  { labels = {}, root }: FieldOptions,
): ChoiceField | undefined {
  const labelled = (value: Json, title?: string): ChoiceField["options"][number] => {
    const key = name === "" ? plainValue(value) : `${name}.${plainValue(value)}`;
    const label = (Object.hasOwn(labels, key) ? labels[key] : undefined) ?? title;
    const shown = label === undefined ? "" : inOneLine(label);
    return { value, ...(shown !== "" && { label: shown }) };
  };
  const values = listIn(schema, "enum") ?? (schema["const"] === undefined ? undefined : [schema["const"]]);
  if (schema["type"] === "boolean" && values === undefined)
    return { kind: "choice", isYesNo: true, options: [labelled(true), labelled(false)] };
  const titles = listIn(schema, "enumNames") ?? [];
  const branches = (listIn(schema, "oneOf") ?? listIn(schema, "anyOf"))?.map((one) => resolved(one, root));
  const constants = branches?.map((one) => (isObject(one) && isScalar(one["const"]) ? one : undefined));
  const found =
    values?.map((value, index) => {
      const title = titles[index];
      return labelled(value, typeof title === "string" ? title : undefined);
    }) ??
    constants?.flatMap((one) =>
      one === undefined
        ? []
        : [labelled(one["const"] ?? null, textIn(one, "title") ?? textIn(one, "description"))],
    );
  if (found === undefined || found.length === 0 || found.length > MOST_OPTIONS) return undefined;
  const isWhole = found.every(({ value }) => isScalar(value)) && constants?.includes(undefined) !== true;
  return isWhole ? { kind: "choice", options: found } : undefined;
}

function isScalar(value: Json | undefined): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function textual(format: string | undefined, schema: SchemaObject): FieldKind {
  const patterns = [schema, ...(listIn(schema, "allOf") ?? [])].flatMap((part) => {
    const pattern = isObject(part) ? textIn(part, "pattern") : undefined;
    return pattern !== undefined && isPattern(pattern) ? [pattern] : [];
  });
  const checks = patterns.length > 0 ? { patterns } : {};
  switch (format) {
    case "date":
      return { kind: "date" };
    case "date-time":
    case "email":
    case "uri":
      return { kind: format, ...checks };
    default: {
      const minLength = numberIn(schema, "minLength");
      const maxLength = numberIn(schema, "maxLength");
      const limits: Omit<TextField, "kind"> = {
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      };
      return { kind: "text", ...limits, ...checks };
    }
  }
}

/** JSON Schema says that a pattern is one of JavaScript's, with Unicode. */
function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    // The schema itself still checks the value.
    return false;
  }
}

function numeric(schema: SchemaObject): NumberField {
  const keys = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;
  const limits = keys.flatMap((key) => {
    const value = numberIn(schema, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    kind: "number",
    ...(schema["type"] === "integer" && { isInteger: true }),
    ...Object.fromEntries(limits),
  };
}

function fileOf(kind: "file" | "photo", schema: SchemaObject): FileField {
  const accept = listIn(schema, "accept")?.filter((type) => typeof type === "string");
  const maxBytes = numberIn(schema, "maxBytes");
  return {
    kind,
    ...(accept !== undefined && { accept }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}
