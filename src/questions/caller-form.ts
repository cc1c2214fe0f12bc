import type { Json } from "../core/message/content.ts";
import type { Form, FormField, FormState } from "../forms/form.ts";
import { formValue } from "../forms/form-places.ts";
import { isObject, plainValue } from "../forms/json-schema.ts";
import { readAnswer } from "../forms/read-answer.ts";
import type { ReadingContext } from "../forms/read-answer.ts";
import { optionLabel } from "../forms/shown-value.ts";

/** JSON Schema of a form that the calling agent shows: a flat object of plain values. */
export interface CallerSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: { readonly [key: string]: Json } };
  readonly required: readonly string[];
}

/** The property of the only value of a form that asks for no object. */
const ONLY = "value";

/**
 * Returns a form as the agent that calls can show it to its person. Undefined if it cannot: agents have no fields for
 * files, photos and places, and must not ask for secrets.
 */
export function callerSchema({ fields }: Form, context: ReadingContext): CallerSchema | undefined {
  const properties: Record<string, { readonly [key: string]: Json }> = {};
  for (const field of fields) {
    const property = field.isSensitive === true ? undefined : propertyOf(field, context);
    if (property === undefined) return undefined;
    properties[nameOf(field)] = {
      ...property,
      ...(field.label !== "" && { title: field.label }),
      ...(field.help !== undefined && { description: field.help }),
      ...(field.default !== undefined && { default: field.default }),
    };
  }
  const required = fields.filter(({ isOptional }) => isOptional !== true).map(nameOf);
  return { type: "object", properties, required };
}

/** Returns the value of a form from what an agent has sent. Undefined if a field cannot read its part. */
export function callerValue(form: Form, content: Json, context: ReadingContext): Json | undefined {
  const given = isObject(content) ? content : {};
  const values: Record<string, Json> = {};
  for (const field of form.fields) {
    const name = nameOf(field);
    const part = (Object.hasOwn(given, name) ? given[name] : undefined) ?? "";
    if (part === "" && field.isOptional === true) continue;
    if (typeof part === "object") return undefined;
    const option = field.kind === "choice" ? field.options.find(({ value }) => value === part) : undefined;
    const reading =
      option === undefined
        ? readAnswer(field, { messengerId: "", text: String(part) }, context)
        : ({ kind: "value", value: option.value } as const);
    if (reading.kind === "problem") return undefined;
    values[field.name] = reading.value;
  }
  const state: FormState = { at: { kind: "sent" }, values, skipped: [] };
  return formValue(form, state);
}

function nameOf({ name }: FormField): string {
  return name === "" ? ONLY : name;
}

function propertyOf(
  field: FormField,
  { say }: Pick<ReadingContext, "say">,
): { readonly [key: string]: Json } | undefined {
  switch (field.kind) {
    case "text": {
      const { maxLength, minLength } = field;
      return {
        type: "string",
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      };
    }
    case "number": {
      const { isInteger, maximum, minimum } = field;
      return {
        type: isInteger === true ? "integer" : "number",
        ...(minimum !== undefined && { minimum }),
        ...(maximum !== undefined && { maximum }),
      };
    }
    case "choice": {
      const agree = field.options.find(({ value }) => value === true);
      if (agree !== undefined) return { type: "boolean", title: optionLabel(agree, say) };
      return {
        type: "string",
        oneOf: field.options.map((option) => ({
          const: plainValue(option.value),
          title: optionLabel(option, say),
        })),
      };
    }
    case "date":
    case "date-time":
    case "email":
    case "uri":
      return { type: "string", format: field.kind };
    default:
      return undefined;
  }
}
