import type { AskedQuestion } from "../core/chat/question.ts";
import type { Form, FormField } from "../forms/form.ts";
import { formOfJsonSchema } from "../forms/form-of.ts";

/** Returns the form of a question. Undefined if no form in a chat can ask for it. */
export function formOfQuestion({ kind, labels = {}, schema, sensitive }: AskedQuestion): Form | undefined {
  const all = formOfJsonSchema(schema, Array.isArray(sensitive) ? { sensitive } : {});
  if (all.kind === "unsupported") return undefined;
  const { form } = all;
  const fields =
    sensitive === true ? form.fields.map((field) => ({ ...field, isSensitive: true })) : form.fields;
  if (kind === "elicit") return { ...form, fields };
  return { ...form, fields: fields.map((field) => withLabels(field, labels)) };
}

function withLabels(field: FormField, labels: Readonly<Record<string, string>>): FormField {
  if (field.kind !== "choice") return field;
  const options = field.options.map(({ value }) => {
    const label = labels[JSON.stringify(value)];
    return { value, ...(label !== undefined && { label }) };
  });
  return { ...field, label: "", options };
}
