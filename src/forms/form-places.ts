import type { Json } from "../core/message/content.ts";
import type { Form, FormField, FormPlace, FormState } from "./form.ts";
import { isObject } from "./json-schema.ts";
import { fitsField } from "./fits-field.ts";

/**
 * Returns the state of a form that begins.
 *
 * @param prefilled the values to begin with. Fields that it lacks and may lack count as left out, so that a form which
 *   is complete begins with its summary.
 */
export function beginForm(form: Form, prefilled?: Json): FormState {
  const given = form.isSingle ? prefilled !== undefined && { "": prefilled } : prefilled;
  const values: Record<string, Json> = {};
  const skipped: string[] = [];
  for (const field of form.fields) {
    const value =
      given !== false && isObject(given) && Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (value !== undefined && fitsField(field, value)) Object.assign(values, { [field.name]: value });
    else if (given !== undefined && given !== false && field.isOptional === true && (value ?? null) === null)
      skipped.push(field.name);
  }
  const state: FormState = { at: fieldPlace(0), values, skipped };
  // The person must see the only field of a form, whatever it has already.
  return form.isSingle ? state : { ...state, at: nextOpen(form, state, -1) };
}

/** Returns where the form goes on: at the first field without an answer after this one, then before it, then at the end. */
export function nextOpen(form: Form, state: FormState, index: number): FormPlace {
  const open = form.fields.flatMap((field, at) => (isAnswered(field, state) ? [] : [at]));
  const next = open.find((at) => at > index) ?? open[0];
  if (next !== undefined) return fieldPlace(next);
  return form.isSingle ? { kind: "sent" } : { kind: "summary" };
}

export function fieldPlace(index: number): FormPlace {
  return { kind: "field", index, page: 0 };
}

/** The name of a place in the payloads of its buttons. */
export function placeKey(place: FormPlace): string {
  return place.kind === "field" ? `field:${place.index}` : place.kind;
}

export function isAnswered({ name }: FormField, { skipped, values }: FormState): boolean {
  return Object.hasOwn(values, name) || skipped.includes(name);
}

/** Returns the field that is asked at the moment. Undefined at the summary and after the end. */
export function askedAt(form: Form, { at }: FormState): FormField | undefined {
  return at.kind === "field" ? form.fields[at.index] : undefined;
}

/** Returns the answer to a field. Undefined if it has none, or was left out. */
export function valueOf({ name }: FormField, { values }: FormState): Json | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Returns the whole value, as the schema gets it. */
export function formValue({ fields, isSingle, kept }: Form, state: FormState): Json {
  if (isSingle) return (fields[0] && valueOf(fields[0], state)) ?? null;
  const entries = fields.flatMap((field): [string, Json][] => {
    const value = valueOf(field, state) ?? (field.isNullable === true ? null : undefined);
    return value === undefined ? [] : [[field.name, value]];
  });
  return { ...kept, ...Object.fromEntries(entries) };
}
