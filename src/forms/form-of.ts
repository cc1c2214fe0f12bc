import type { FlexibleSchema } from "ai";
import type { Json } from "../core/message/content.ts";
import { jsonSchemaOf } from "../core/json/json-schema-of.ts";
import { fieldOf } from "./field-of.ts";
import type { FieldOptions } from "./field-of.ts";
import type { Form, FormField } from "./form.ts";
import { isObject, resolved } from "./json-schema.ts";

export interface FormOptions extends Omit<FieldOptions, "root"> {
  /**
   * The value that the form edits, to which `beginForm` gets it, too. Its properties that no form can ask for stay as
   * they are.
   */
  readonly edits?: Json;
}

/** A form, or the path of the first thing that no form can ask for. */
export type FormOf =
  | { readonly kind: "form"; readonly form: Form }
  /** `path`: such as `address.street`. Empty for the schema as a whole. */
  | { readonly kind: "unsupported"; readonly path: string };

/** More fields are no question, but a web page. */
const MOST_FIELDS = 30;

/**
 * Returns the form that asks for a value of a schema.
 *
 * @throws {ConfigurationError} `schema-undescribed` if the schema's library cannot describe it
 */
export async function formOf(schema: FlexibleSchema, options: FormOptions = {}): Promise<FormOf> {
  return formOfJsonSchema(await jsonSchemaOf(schema), options);
}

/** Returns the form that asks for a value of a JSON Schema. */
export function formOfJsonSchema(schema: Json | undefined, { edits, ...options }: FormOptions = {}): FormOf {
  const root = resolved(schema, schema);
  if (!isObject(root)) return { kind: "unsupported", path: "" };
  const all = { ...options, root };
  const single = fieldOf("", root, true, all);
  if (single !== undefined) return { kind: "form", form: { isSingle: true, fields: [single] } };
  const { properties, required } = root;
  const isFlat = root["type"] === "object" && !["allOf", "anyOf", "oneOf"].some((key) => key in root);
  if (!isFlat || !isObject(properties)) return { kind: "unsupported", path: "" };
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > MOST_FIELDS) return { kind: "unsupported", path: "" };
  const fields: FormField[] = [];
  const kept = new Map(isObject(edits) ? Object.entries(edits) : []);
  for (const name of names) {
    const isRequired = Array.isArray(required) && required.includes(name);
    const field = fieldOf(name, properties[name], isRequired, all);
    if (field !== undefined) {
      fields.push(field);
      // Left out is not the same as null, but a person does not know the difference.
      if (kept.get(name) !== null) kept.delete(name);
    } else if (isRequired ? !kept.has(name) : edits === undefined) return { kind: "unsupported", path: name };
  }
  if (fields.length === 0) return { kind: "unsupported", path: names[0] ?? "" };
  const form: Form = { isSingle: false, fields, ...(kept.size > 0 && { kept: Object.fromEntries(kept) }) };
  return { kind: "form", form };
}
